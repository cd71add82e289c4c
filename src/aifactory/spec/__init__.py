"""What decides a run and what stands beside it: config types, inputs, images, the spec and its hash, recipes."""

from aifactory.spec.batch import Batch
from aifactory.spec.build import Build, CheckSpec, StageKind
from aifactory.spec.checkpointing import Checkpointing
from aifactory.spec.config import Config, Json
from aifactory.spec.context import Context
from aifactory.spec.evaluate import Evaluate
from aifactory.spec.frozen import Frozen, access_of, freeze, load_frozen
from aifactory.spec.git import GitFacts, git_facts
from aifactory.spec.gpt import GPT
from aifactory.spec.image_ref import ImageRef
from aifactory.spec.images import ImageName, image_digest, image_inputs, inputs_digest, python_minor
from aifactory.spec.input_ref import InputKind, InputRef, Part
from aifactory.spec.mix import Mix, MixSource
from aifactory.spec.optimizer import Optimizer
from aifactory.spec.overrides import as_changes, parse_overrides
from aifactory.spec.parallelism import Parallelism
from aifactory.spec.place import access_of_run, check_place, check_run
from aifactory.spec.recipe import Recipe, recipe
from aifactory.spec.recipes import find_recipes, get_recipe
from aifactory.spec.run_spec import Kind, RunSpec
from aifactory.spec.schedule import Schedule
from aifactory.spec.schema import config_schema
from aifactory.spec.scorers import BitsPerByte, MultipleChoice, Scorer
from aifactory.spec.train import Train

__all__ = [
    "GPT",
    "Batch",
    "BitsPerByte",
    "Build",
    "CheckSpec",
    "Checkpointing",
    "Config",
    "Context",
    "Evaluate",
    "Frozen",
    "GitFacts",
    "ImageName",
    "ImageRef",
    "InputKind",
    "InputRef",
    "Json",
    "Kind",
    "Mix",
    "MixSource",
    "MultipleChoice",
    "Optimizer",
    "Parallelism",
    "Part",
    "Recipe",
    "RunSpec",
    "Schedule",
    "Scorer",
    "StageKind",
    "Train",
    "access_of",
    "access_of_run",
    "as_changes",
    "check_place",
    "check_run",
    "config_schema",
    "find_recipes",
    "freeze",
    "get_recipe",
    "git_facts",
    "image_digest",
    "image_inputs",
    "inputs_digest",
    "load_frozen",
    "parse_overrides",
    "python_minor",
    "recipe",
]
