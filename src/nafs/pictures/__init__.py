"""Figures for papers and notebooks."""

from nafs.pictures.plots import plot_curves, plot_hop_grid, plot_map, plot_weights_by_degree

__all__ = ["plot_curves", "plot_hop_grid", "plot_map", "plot_weights_by_degree"]
