"""Scores a checkpoint on the suites that its training froze."""

import dagster as dg

from aifactory.orchestrate.evaluating import EvaluateConfig
from aifactory.orchestrate.evaluating import evaluate as run_evaluation


@dg.op(name="evaluate", description=run_evaluation.__doc__)
def evaluate_op(context: dg.OpExecutionContext, config: EvaluateConfig) -> None:
    run_evaluation(context, config)


@dg.graph
def evaluation() -> None:
    evaluate_op()


evaluate = evaluation.to_job(name="evaluate", description=__doc__)
