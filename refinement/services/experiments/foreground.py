"""Carries out an experiment in this process, with threads, where no worker needs to be running.

Workers may be running nonetheless: they and this process start different runs, under the experiment's lock.
"""

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from django.db import connections
from django.db.models import Q
from django.utils import timezone

from refinement.execution.foreground import RunBusy, foreground_resume, run_in_foreground
from refinement.execution.steps.step import StepOptions, StepResult
from refinement.models import CellState, Experiment, ExperimentRun, ExperimentStatus, Run, RunStatus
from refinement.services.experiments.control import experiment_pause
from refinement.services.experiments.dealing import runs_deal
from refinement.services.runs.lifecycle import WrongState

PAUSE = 0.5  # seconds between two looks while others carry out the remaining runs
OPEN = (RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.WAITING)


class ExperimentAsks(Exception):
    """Only runs that wait for a person's decision are left."""

    def __init__(self, runs: list[int]) -> None:
        self.runs = runs
        super().__init__(f"{len(runs)} runs wait for a decision: {', '.join(map(str, runs[:10]))}.")


class ForegroundExperiment:
    """One experiment. `carry_out` returns when it has ended, or paused itself."""

    def __init__(self, experiment_id: int, threads: int, on_change: Callable[[], None]) -> None:
        self.experiment_id = experiment_id
        self.threads = threads
        self.on_change = on_change
        self.going: dict[Future[None], int] = {}
        self.tried: set[int] = set()
        self.stopped = threading.Event()

    def carry_out(self, *, until: Callable[[], bool] = lambda: False) -> None:
        """Raises ExperimentAsks. If it is interrupted or fails, the experiment is left paused."""
        pool = ThreadPoolExecutor(self.threads, thread_name_prefix="experiment")
        try:
            while self.is_running() and not until():
                self.start_runs(pool)
                self.wait_for_one()
                self.on_change()
        except BaseException:
            self.pause()
            raise
        finally:
            pool.shutdown(wait=True)

    def is_running(self) -> bool:
        """Whether there is anything left to do. Ends the experiment if all its runs have ended."""
        runs_deal(self.experiment_id, room=0)
        running = Experiment.objects.filter(pk=self.experiment_id, status=ExperimentStatus.RUNNING)
        return bool(self.going) or running.exists()

    def start_runs(self, pool: ThreadPoolExecutor) -> None:
        """Fills the free threads: with runs that nobody carries out, and then with new ones."""
        free = self.threads - len(self.going)
        chosen = self.abandoned()[:free]
        if len(chosen) < free:
            runs_deal(self.experiment_id, status=RunStatus.RUNNING, room=free - len(chosen))
            chosen = self.abandoned()[:free]
        for run in chosen:
            self.tried.add(run)
            self.going[pool.submit(self.work, run)] = run

    def abandoned(self) -> list[int]:
        """Started runs without a lease, which this process has not tried yet."""
        cells = ExperimentRun.objects.filter(
            experiment=self.experiment_id, replaced=False, state=CellState.RUNNING, run__status__in=OPEN
        )
        free = cells.filter(Q(run__lease_until__isnull=True) | Q(run__lease_until__lt=timezone.now()))
        found = free.order_by("order", "pk").values_list("run_id", flat=True)
        return [run for run in found if run is not None and run not in self.tried]

    def work(self, run_id: int) -> None:
        """One thread: carries out a run, unless another process has taken it."""
        try:
            run = foreground_resume(run_id)
            if not run.is_finished and not self.stopped.is_set():
                run_in_foreground(run_id, StepOptions(), ignore)
        except RunBusy:
            return
        finally:
            connections.close_all()

    def wait_for_one(self) -> None:
        if self.going:
            done, _ = wait(self.going, timeout=PAUSE, return_when=FIRST_COMPLETED)
            for future in done:
                del self.going[future]
                future.result()
            return
        asking = self.asking()
        if asking and not self.carried_out_elsewhere():
            raise ExperimentAsks(asking)
        self.stopped.wait(PAUSE)

    def asking(self) -> list[int]:
        cells = ExperimentRun.objects.filter(
            experiment=self.experiment_id, replaced=False, state=CellState.RUNNING
        )
        return [cell.run.pk for cell in cells.select_related("run") if cell.run and cell.run.is_asking]

    def carried_out_elsewhere(self) -> bool:
        going = Run.objects.filter(experiment=self.experiment_id, lease_until__gt=timezone.now())
        return going.exists()

    def pause(self) -> None:
        self.stopped.set()
        try:
            experiment_pause(Experiment.objects.get(pk=self.experiment_id), None)
        except WrongState:
            return  # it has just ended


def ignore(result: StepResult) -> None:
    """A run that waits for a model server is tried again by its own thread."""
