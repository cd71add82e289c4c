"""Ports: free, taken, asked for."""

import socket
from collections.abc import Iterator

import pytest

from aifactory.errors import FactoryError
from aifactory.laptop import ports


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as server:
        server.bind((ports.HOST, 0))
        server.listen()
        yield server.getsockname()[1]


def test_a_port_where_somebody_listens_is_not_free(taken: int):
    assert not ports.is_free(taken)
    assert ports.answers(taken)


def test_the_next_free_port_is_taken_instead(taken: int):
    assert ports.first_free(taken) > taken


def test_a_port_that_is_spoken_for_is_passed_over(taken: int):
    free = ports.first_free(taken)
    assert ports.first_free(free, besides=(free,)) > free


def test_a_port_that_a_person_insists_on_names_who_has_it(taken: int):
    with pytest.raises(FactoryError) as caught:
        ports.insist(taken, "AIFACTORY_UI_PORT")
    assert caught.value.code == "port"
    assert str(taken) in caught.value.what
    assert "process" in str(caught.value.found)
    assert "AIFACTORY_UI_PORT" in caught.value.fix
