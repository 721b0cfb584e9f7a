"""`nafs describe`: what a graph looks like."""

from __future__ import annotations

import json

from nafs.cli import options as o
from nafs.cli.console import Run, results, table_of


def describe(
    edges: o.EdgesArgument,
    features: o.FeaturesOption = None,
    labels: o.LabelsOption = None,
    source: o.SourceOption = None,
    target: o.TargetOption = None,
    weight: o.WeightOption = None,
    unweighted: o.UnweightedOption = False,
    ignore: o.IgnoreOption = None,
    id_column: o.IdOption = None,
    label_column: o.LabelOption = None,
    delimiter: o.DelimiterOption = None,
    header: o.HeaderOption = None,
    comment: o.CommentOption = None,
    missing: o.MissingOption = "error",
    directed: o.DirectedOption = False,
    self_loops: o.SelfLoopsOption = False,
    quiet: o.QuietOption = False,
    as_json: o.JsonOption = False,
) -> None:
    """Count nodes, edges, components, degrees, features and labels."""
    run = Run(quiet, as_json)
    graph = o.read(run, locals())
    with run.stage("count"):
        found = graph.describe()
    if as_json:
        print(json.dumps(found.as_dict() | {"notes": run.notes}, ensure_ascii=False))
        return
    run.say_notes()
    results.print(table_of(found.rows()))
