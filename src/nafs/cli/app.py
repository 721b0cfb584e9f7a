"""The commands of `nafs`."""

from __future__ import annotations

from typing import Annotated

import typer

from nafs.cli import (
    classify,
    cluster,
    convert,
    datasets,
    demo,
    describe,
    embed,
    evaluate,
    explore,
    plan,
    report,
    reproduce,
    similar,
    suggest_links,
    update,
)

app = typer.Typer(
    name="nafs",
    help="""Node embeddings without training: smooth node features over the graph.

    [bold]nafs embed edges.csv --features features.csv -o embedding.parquet[/bold]
    """,
    no_args_is_help=True,
    rich_markup_mode="rich",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(name="embed")(embed.embed)
app.command(name="update")(update.update)
app.command(name="plan")(plan.plan)
app.command(name="describe")(describe.describe)
app.command(name="convert")(convert.convert)
app.command(name="cluster")(cluster.cluster)
app.command(name="classify")(classify.classify)
app.command(name="similar")(similar.similar)
app.command(name="suggest-links")(suggest_links.suggest_links)
app.command(name="explore")(explore.explore)
app.command(name="report")(report.report)
app.command(name="evaluate")(evaluate.evaluate)
app.command(name="reproduce")(reproduce.reproduce)
app.command(name="demo")(demo.demo)
app.add_typer(datasets.app, name="datasets")


def _version(wanted: bool) -> None:
    if wanted:
        import nafs

        print(f"nafs {nafs.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options of every command; ``main`` handles --debug itself."""
