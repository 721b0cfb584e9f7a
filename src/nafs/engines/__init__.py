"""Where hops run: in memory, through files, or on a Dask cluster."""
