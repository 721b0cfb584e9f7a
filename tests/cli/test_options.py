"""Options are defined once: every command takes whole groups, called and set as in the library."""

import inspect
from dataclasses import dataclass, fields
from typing import Annotated

import pytest
import typer

from nafs import NAFS, embed, read_graph
from nafs._support.errors import InputError, Parameter
from nafs.cli.app import app
from nafs.cli.embedding_options import EmbeddingOptions, RunOptions
from nafs.cli.flags import command, flag, shown, switch, text_flag
from nafs.cli.reading import Reading
from nafs.pipeline import Settings

SHORT_FLAGS = {
    "-f": "--features",
    "-h": "--help",
    "-k": "--count",  # how many: rows to return, or clusters; hops have no short flag
    "-l": "--labels",
    "-o": "--output",
    "-q": "--quiet",
    "-t": "--task",
}


def leaves(group, prefix=""):
    for name, entry in group.commands.items():
        if hasattr(entry, "commands"):
            yield from leaves(entry, f"{prefix}{name} ")
        else:
            yield prefix + name, entry


COMMANDS = dict(leaves(typer.main.get_command(app)))
EMBEDS = ("embed", "plan", "cluster", "classify", "suggest-links", "report", "explore", "evaluate")
READS = (*EMBEDS, "describe", "convert")


def options_of(name):
    return {entry.name: entry for entry in COMMANDS[name].params if entry.param_type_name == "option"}


def defaults(group):
    return {entry.name: entry.default for entry in fields(group)}


def parameters(function):
    return {name: entry.default for name, entry in inspect.signature(function).parameters.items()}


@pytest.mark.parametrize("name", READS)
def test_every_command_that_reads_takes_all_options_of_reading(name):
    assert defaults(Reading).keys() <= options_of(name).keys()


@pytest.mark.parametrize("name", EMBEDS)
def test_every_command_that_embeds_takes_all_options_of_embedding(name):
    assert defaults(EmbeddingOptions).keys() <= options_of(name).keys()
    if name not in ("plan", "evaluate"):  # which execute no run, or many
        assert defaults(RunOptions).keys() <= options_of(name).keys()


def test_a_short_flag_means_the_same_everywhere():
    meanings = {}
    for name in COMMANDS:
        for option in options_of(name).values():
            long = next(flag for flag in option.opts if flag.startswith("--"))
            for short in option.opts:
                if not short.startswith("--"):
                    meanings.setdefault(short, set()).add(long)
    meanings["-h"] = {"--help"}
    assert meanings["-k"] == {"--count", "--clusters"}
    meanings["-k"].remove("--clusters")
    assert meanings == {short: {long} for short, long in SHORT_FLAGS.items()}


def test_a_flag_stands_for_the_same_parameter_everywhere():
    parameters = {}
    for name in COMMANDS:
        for option in options_of(name).values():
            for word in (*option.opts, *option.secondary_opts):
                parameters.setdefault(word, set()).add(option.name)
    assert parameters.pop("-k") == {"k", "n_clusters"}  # how many rows, or how many clusters
    assert {word: names for word, names in parameters.items() if len(names) > 1} == {}


def test_every_option_says_what_it_does():
    for name in COMMANDS:
        for option in options_of(name).values():
            assert option.help, f"{name} {option.name}"
            assert option.help.split("[dim]")[0].strip().rstrip(".")[0].isupper() or option.name == "task"


def test_options_are_called_and_set_as_in_nafs():
    known = defaults(Reading) | defaults(EmbeddingOptions)
    library = parameters(NAFS)
    for name in ("n_neighbors", "metric"):  # of a graph that is built from features: there is always one here
        del library[name]
    assert library.pop("directed") is None  # reads as False, and warns
    assert (library.pop("dim"), known.pop("dim")) == ("full", "auto")  # NAFS is the paper's method
    assert {name: known[name] for name in library} == library


def test_options_of_embedding_are_those_of_the_library():
    library = Settings().as_dict()
    assert defaults(EmbeddingOptions) == library
    options = parameters(embed)
    assert {name: options[name] for name in library} == library
    assert defaults(RunOptions) == {name: options[name] for name in ("client", "resume")}


def test_options_of_reading_are_those_of_read_graph():
    library = parameters(read_graph)
    for name in ("edges", "scratch_dir", "progress"):  # an argument; beside the output; a bar
        del library[name]
    options = defaults(Reading)
    assert options.pop("unweighted") is False  # weight=False
    assert options == library


def test_few_commands_have_different_defaults():
    assert {
        (name, option)
        for name in EMBEDS
        for option, entry in options_of(name).items()
        if entry.default != options_of("embed").get(option, entry).default and option != "output"
    } == {
        ("cluster", "n_hops"),
        ("cluster", "n_clusters"),
        ("classify", "n_hops"),
        ("suggest-links", "n_hops"),
        ("suggest-links", "goal"),
        ("evaluate", "goal"),
        ("evaluate", "dim"),
    }


# --- the decorator -----------------------------------------------------------------------


def whole_number(text):
    if not text.isdigit():
        raise InputError(Parameter("n_steps"), f" must be a whole number; got {text!r}")
    return int(text)


@dataclass(frozen=True, kw_only=True)
class Steps:
    n_steps: Annotated[int, text_flag("--steps", help="Steps.", parse=whole_number)] = 3
    dtype: Annotated[str, switch("--half", help="Half.", on="float16", off="float32")] = "float32"
    memory: Annotated[str | None, flag("--memory", help="Memory.")] = None


@dataclass(frozen=True, kw_only=True)
class Limits:
    memory: Annotated[str | None, flag("--memory", help="Memory.")] = None
    loops: Annotated[bool, flag("--loops/--no-loops", help="Loops.")] = True
    plain: Annotated[bool, switch("--plain", help="Plain.", stands_for=Parameter("weight", False))] = False


def run(function, *words):
    app = typer.Typer()
    app.command()(function)
    app(list(words), standalone_mode=False)


def test_a_command_gets_its_groups():
    seen = []

    @command
    def walk(
        steps: Steps,
        limits: Limits,
        far: Annotated[bool, flag("--far", help="Far.")] = False,
    ) -> None:
        """Walk."""
        seen.append((steps, limits, far))

    run(walk)
    run(walk, "--steps", "7", "--half", "--memory", "1GB", "--no-loops", "--far", "--plain")
    assert seen[0] == (Steps(), Limits(), False)
    assert seen[1] == (
        Steps(n_steps=7, dtype="float16", memory="1GB"),
        Limits(memory="1GB", loops=False, plain=True),
        True,
    )


def test_a_command_may_have_defaults_of_its_own():
    seen = []
    far = Steps(n_steps=9, dtype="float16")

    @command
    def walk(steps: Steps = far) -> None:
        """Walk."""
        seen.append(steps)

    run(walk)
    assert seen == [far]


def test_two_options_of_one_name_must_be_the_same():
    def walk(steps: Steps, memory: Annotated[int, flag("--memory", help="Other.")] = 3) -> None: ...

    with pytest.raises(TypeError, match="two different options called memory"):
        command(walk)


@pytest.mark.parametrize(
    ("parameter", "text"),
    [
        (Parameter("n_steps"), "--steps"),
        (Parameter("n_steps", 1), "--steps 1"),
        (Parameter("dtype", "float16"), "--half"),
        (Parameter("dtype", "float32"), "no --half"),
        (Parameter("loops", False), "--no-loops"),
        (Parameter("loops", True), "--loops"),
        (Parameter("far", True), "--far"),
        (Parameter("far", False), "no --far"),
        (Parameter("weight", False), "--plain"),
        (Parameter("place"), "PLACE"),
        (Parameter("unknown", 3), "unknown=3"),
    ],
)
def test_errors_name_the_flags_of_the_command_that_ran(parameter, text):
    @command
    def walk(
        place: Annotated[str, typer.Argument(metavar="PLACE")],
        steps: Steps,
        limits: Limits,
        far: Annotated[bool, flag("--far", help="Far.")] = False,
    ) -> None:
        """Walk."""
        raise InputError("n_steps: use ", parameter)

    with pytest.raises(InputError) as caught:
        run(walk, "here")
    assert shown(caught.value) == f"n_steps: use {text}"


def test_text_that_cannot_be_parsed_names_its_flag():
    @command
    def walk(steps: Steps) -> None:
        """Walk."""

    with pytest.raises(InputError) as caught:
        run(walk, "--steps", "many")
    assert shown(caught.value) == "--steps must be a whole number; got 'many'"


def test_no_command_has_two_options_with_one_name():
    for name, subcommand in typer.main.get_command(app).commands.items():
        flags = [flag for option in subcommand.params for flag in option.opts]
        assert len(flags) == len(set(flags)), name
