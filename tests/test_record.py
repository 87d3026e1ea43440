"""A record behaves as a dataclass: each test compares the two, made from the same class."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from doctor.record import dataclass as record


@record(frozen=True)
class Point:
    """Here, so that it can be pickled."""

    x: int
    y: int = 2
    tags: list[str] = dataclasses.field(default_factory=list)
    secret: str = dataclasses.field(default="s", repr=False, compare=False)


@dataclasses.dataclass(frozen=True)
class Model:
    """The same, by the standard library."""

    x: int
    y: int = 2
    tags: list[str] = dataclasses.field(default_factory=list)
    secret: str = dataclasses.field(default="s", repr=False, compare=False)


@pytest.mark.parametrize("make", [lambda c: c(1), lambda c: c(1, 3), lambda c: c(x=1, tags=["a"]), lambda c: c(1, secret="t"), lambda c: c(1, 2, [], "u")])
def test_the_values_are_those_of_a_dataclass(make: Callable[[Any], Any]) -> None:
    ours, theirs = make(Point), make(Model)
    assert list(vars(ours).items()) == list(vars(theirs).items())
    assert repr(ours) == repr(theirs).replace("Model", "Point")
    assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)


@pytest.mark.parametrize("make", [lambda c: c(), lambda c: c(y=1), lambda c: c(1, x=1), lambda c: c(1, 2, [], "", 5), lambda c: c(1, z=1)])
def test_wrong_arguments_are_refused(make: Callable[[Any], Any]) -> None:
    for kind in (Model, Point):
        with pytest.raises(TypeError):
            make(kind)


def test_it_is_frozen() -> None:
    point = Point(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x
    assert point.x == 1


def test_equal_values_make_equal_records_and_hashes() -> None:
    @record(frozen=True)
    class Other:
        x: int
        y: int = 2

    assert Point(1) == Point(1, secret="t") != Point(2)
    assert Point(1).__eq__(Other(1)) is NotImplemented
    assert hash(Other(1)) == hash(Other(1, 2)) and len({Other(1), Other(1), Other(2)}) == 2
    with pytest.raises(TypeError):
        hash(Point(1))  # it holds a list
    nan = float("nan")
    assert Other(nan) == Other(nan)  # type: ignore[arg-type]  # the very same object, as in a tuple


def test_one_that_changes_has_no_hash() -> None:
    @record
    class Counter:
        n: int = 0

    counter = Counter()
    counter.n += 1
    assert counter == Counter(1)
    assert Counter.__hash__ is None


def test_what_a_class_defines_itself_stays() -> None:
    @record(frozen=True)
    class Named:
        name: str

        def __repr__(self) -> str:
            return "mine"

    @record(frozen=True, eq=False)
    class Alone:
        name: str

    assert repr(Named("a")) == "mine"
    assert Alone("a") != Alone("a")
    assert len({Alone("a"), Alone("a")}) == 2


def test_a_field_that_is_no_argument_is_set_later() -> None:
    @record
    class Late:
        x: int
        y: int = dataclasses.field(init=False)

    late = Late(1)
    late.y = 2
    assert (late.x, late.y) == (1, 2)
    with pytest.raises(TypeError):
        Late(1, 2)  # type: ignore[call-arg]


def test_each_record_gets_a_list_of_its_own() -> None:
    first, second = Point(1), Point(1)
    first.tags.append("a")
    assert second.tags == []


def test_it_can_be_replaced_copied_pickled_and_matched() -> None:
    point = Point(1, 3)
    assert dataclasses.replace(point, x=5) == Point(5, 3)
    assert copy.deepcopy(point) == pickle.loads(pickle.dumps(point)) == point
    assert dataclasses.is_dataclass(point)
    match point:
        case Point(1, y):
            assert y == 3
        case _:
            pytest.fail("it does not match")


def test_a_record_may_extend_another() -> None:
    @record(frozen=True)
    class Base:
        x: int
        y: int = 2

    @record(frozen=True)
    class More(Base):
        z: int = 3

    assert vars(More(1)) == {"x": 1, "y": 2, "z": 3}
    assert Base(1) != More(1)


def test_an_option_that_it_does_not_have_is_refused() -> None:
    with pytest.raises(TypeError):
        record(order=True)(type("Sorted", (), {}))


def test_what_would_not_be_called_is_refused() -> None:
    with pytest.raises(TypeError, match="__post_init__"):

        @record
        class Late:
            def __post_init__(self) -> None: ...
