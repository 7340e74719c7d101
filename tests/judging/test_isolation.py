"""The child processes: what a request can do to them, and what it cannot do to the next one."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from refinement.engine.types import Check
from refinement.judging import isolation
from refinement.judging.checks import check_problems, run_checks
from refinement.judging.isolation import Limit, pool, process, time_limit, while_waiting
from refinement.judging.isolation.process import ChildProcess, RequestEnded
from refinement.judging.templating import TemplateFailure, check_template, render

SLOW = {"checks": [["contains", '{"text": "a"}'], ["regex", '{"pattern": "^(?:(?:a|aa)+)+0$"}']] * 3}
SLOW |= {"candidate": "a" * 60 + "!"}
HUGE = {"checks": [["regex", '{"pattern": "(?R)?a"}']], "candidate": "a" * 200_000}
FINE = {"checks": [["contains", '{"text": "a"}']], "candidate": "a"}
PASSED = [True, "", None]


@pytest.fixture
def children(monkeypatch):
    """A pool of its own, whose children can be looked at."""
    own = pool.Pool()
    monkeypatch.setattr(pool, "_pool", own)
    yield own
    own.close()


def idle_pids(children):
    return [child.pid for child in children._idle]


def is_running(pid):
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def wait_for(condition):
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_answers_before_the_limit_count_and_the_next_request_gets_a_new_child(children):
    isolation.run("run_checks", FINE)
    (before,) = idle_pids(children)
    ended = isolation.run("run_checks", SLOW, seconds=0.3)
    assert (ended.answers, ended.limit) == ([PASSED], Limit.TIME)
    assert not is_running(before)
    assert isolation.run("run_checks", FINE).answers == [PASSED]
    assert idle_pids(children) != [before]


def test_a_child_is_used_again(children):
    for _ in range(3):
        isolation.run("run_checks", FINE)
    (pid,) = idle_pids(children)
    isolation.run("run_checks", FINE)
    assert idle_pids(children) == [pid]


def test_memory_is_limited(children):
    assert isolation.run("run_checks", HUGE).limit is Limit.MEMORY
    assert isolation.run("run_checks", FINE).answers == [PASSED]


def test_a_long_text_has_the_memory_it_needs(children):
    long = {"checks": [["contains", '{"text": "end"}']], "candidate": "日本" * 4_000_000 + "end"}
    assert isolation.run("run_checks", long).answers == [PASSED]


def test_a_child_that_holds_on_to_much_memory_is_replaced(children):
    """The sandbox keeps what it has compiled: here some dozens of long templates."""
    isolation.run("run_checks", FINE)
    (first,) = idle_pids(children)
    for number in range(60):
        source = f"{{# {number} #}}" + "{% if task %}{{ task }}{% endif %}" * 500
        assert isolation.run("render", {"name": "draft", "source": source, "values": {"task": "x"}}).answers
        if idle_pids(children) != [first]:
            break
    assert idle_pids(children) != [first]
    assert isolation.run("run_checks", FINE).answers == [PASSED]


def test_a_child_that_dies_is_a_crash_and_is_replaced(children):
    isolation.run("run_checks", FINE)
    (pid,) = idle_pids(children)
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not is_running(pid))
    assert isolation.run("run_checks", FINE).limit is Limit.CRASH
    assert isolation.run("run_checks", FINE).answers == [PASSED]


def test_a_child_that_does_not_go_on_is_given_up(children, monkeypatch):
    monkeypatch.setattr(process, "PATIENCE", 1.0)
    isolation.run("run_checks", FINE)
    (pid,) = idle_pids(children)
    os.kill(pid, signal.SIGSTOP)
    assert isolation.run("run_checks", FINE, seconds=0.3).limit is Limit.TIME
    assert not is_running(pid)


def test_an_error_in_the_child_is_no_error_here(children):
    assert isolation.run("check_template", {"name": "nonesuch", "source": "x"}).limit is Limit.CRASH


def test_several_requests_share_their_time(children):
    with time_limit(0.5):
        assert isolation.run("run_checks", SLOW, seconds=1).limit is Limit.TIME
        assert isolation.run("run_checks", FINE).limit is Limit.SPENT
        with time_limit(10):  # cannot give more than there is
            assert isolation.run("run_checks", FINE).limit is Limit.SPENT
    assert isolation.run("run_checks", FINE).answers == [PASSED]


def test_whoever_waits_is_called_and_may_give_up(children):
    class GaveUp(Exception):
        pass

    calls = []

    def look():
        calls.append(1)
        if len(calls) == 2:
            raise GaveUp

    isolation.run("run_checks", FINE)
    (pid,) = idle_pids(children)
    os.kill(pid, signal.SIGSTOP)
    with while_waiting(look), pytest.raises(GaveUp):
        isolation.run("run_checks", FINE)
    assert not is_running(pid)
    assert isolation.run("run_checks", FINE).answers == [PASSED]


def test_without_a_free_child_a_request_is_refused_or_waits(children, monkeypatch):
    monkeypatch.setattr(pool, "WAIT_SECONDS", 0.1)
    for _ in range(pool.MOST_CHILDREN):
        children._free.acquire()
    assert isolation.run("run_checks", FINE).limit is Limit.BUSY

    waited = []

    def look():
        waited.append(1)
        if len(waited) == 3:
            children._free.release()

    with while_waiting(look):
        assert isolation.run("run_checks", FINE).answers == [PASSED]
    assert len(waited) >= 3
    children._free.release()


def test_many_threads_share_few_children(children):
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(isolation.run("run_checks", FINE).answers))
        for _ in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[PASSED]] * 12
    assert 1 <= len(idle_pids(children)) <= pool.MOST_CHILDREN


def test_a_child_has_none_of_our_environment(children, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "canary")
    isolation.run("run_checks", FINE)
    (pid,) = idle_pids(children)
    assert b"canary" not in Path(f"/proc/{pid}/environ").read_bytes()
    assert Path(f"/proc/{pid}/cwd").readlink() == Path("/")
    assert not [link for link in Path(f"/proc/{pid}/fd").iterdir() if "socket" in str(link.readlink())]


def test_a_child_ends_when_its_input_closes_or_nothing_comes(children, monkeypatch):
    isolation.run("run_checks", FINE)
    child = children._idle.pop()
    child._process.stdin.close()
    assert child._process.wait(30) == 0
    child.stop()

    idle = ChildProcess(idle_seconds=0.1)
    assert idle._process.wait(30) == 0
    idle.stop()


def test_a_child_that_is_about_to_end_is_not_sent_anything(children, monkeypatch):
    isolation.run("run_checks", FINE)
    (pid,) = idle_pids(children)
    monkeypatch.setattr(pool, "IDLE_SECONDS", pool.SPARE_SECONDS)
    assert isolation.run("run_checks", FINE).answers == [PASSED]
    assert not is_running(pid)


def test_a_write_to_a_child_that_is_gone_is_a_crash():
    child = ChildProcess(idle_seconds=0.1)
    child._process.wait(30)
    with pytest.raises(RequestEnded) as ended:
        list(child.answers({"operation": "run_checks", "arguments": FINE}, 1.0, None))
    assert ended.value.limit is Limit.CRASH
    child.stop()


def test_after_a_fork_nobody_shares_a_child(children):
    isolation.run("run_checks", FINE)
    (pid,) = idle_pids(children)
    forked = os.fork()
    if forked == 0:
        os._exit(0 if pool._pool is not children and not pool._pool._idle else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1]) == 0
    assert is_running(pid)


def test_what_people_are_told(children, monkeypatch):
    hang = Check("hang", "regex", {"pattern": "^(?:(?:a|aa)+)+0$"})
    fine = Check("fine", "contains", {"text": "a"})
    with time_limit(0.3):
        first, slow, after = run_checks((fine, hang, fine), "a" * 60 + "!")
        assert "used up the time" in check_problems(fine)[0]
        assert "used up the time" in check_template("draft", "{{ task }}")[0].message
        with pytest.raises(TemplateFailure, match="used up the time"):
            render("revision", "{{ task }}", task="a")
    assert first.passed
    assert "takes longer than" in slow.message
    assert "“hang” before it did not end" in after.message
    assert not after.passed
