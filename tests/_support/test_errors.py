"""Errors name parameters by Python name or by flag, and never rewrite the user's data."""

import pickle

import pytest

from nafs._support import errors
from nafs._support.errors import InputError, Parameter

LIMIT = (
    "column 'memory_limit' needs 5 GB, more than the ",
    Parameter("memory_limit"),
    " of 4 GB; raise it, or use ",
    Parameter("state_dtype", "float16"),
)


def flag(parameter):
    return "--float16" if parameter.has_value else "--" + parameter.name.replace("_", "-")


def test_only_parameters_are_rewritten():
    error = InputError(*LIMIT)
    assert str(error) == (
        "column 'memory_limit' needs 5 GB, more than the memory_limit of 4 GB; "
        "raise it, or use state_dtype='float16'"
    )
    assert error.render(flag) == (
        "column 'memory_limit' needs 5 GB, more than the --memory-limit of 4 GB; raise it, or use --float16"
    )
    assert error.parameter == "memory_limit"
    assert InputError("the file is empty").parameter is None


def test_a_value_of_none_is_a_value():
    assert str(Parameter("n_threads", None)) == "n_threads=None"
    assert Parameter("n_threads", None) != Parameter("n_threads")


@pytest.mark.parametrize(
    ("kind", "also"),
    [
        (errors.InputError, ValueError),
        (errors.InputTypeError, TypeError),
        (errors.MemoryLimitError, MemoryError),
        (errors.OutputExistsError, FileExistsError),
        (errors.MissingExtraError, ImportError),
    ],
)
def test_every_kind_is_a_value_error_and_survives_pickling(kind, also):
    for parts in (("text",), LIMIT, (), ("a", "b"), ("a", "b", "c", "d", "e")):
        error = kind(*parts)
        assert isinstance(error, InputError)
        assert isinstance(error, ValueError)
        assert isinstance(error, also)
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is kind
        assert (copy.parts, copy.parameter) == (error.parts, error.parameter)
        assert str(copy) == str(error) == "".join(map(str, parts))
        assert copy.render(flag) == error.render(flag)


def test_long_values_are_cut():
    from nafs._support.errors import InputError

    error = InputError("x.csv: the id " + "A" * 5000 + " comes twice; remove one")
    assert len(str(error)) < 1300
    assert str(error).startswith("x.csv: the id AAA")
    assert str(error).endswith("AAA comes twice; remove one")
