"""A megatron-core GPT from its config, and the two masks that say what a token may look at.

Importing this module imports megatron (about 20 CPU seconds): call `device.prepare` first.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from megatron.core import parallel_state, tensor_parallel
from megatron.core.distributed import finalize_model_grads
from megatron.core.models.gpt import GPTModel
from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
from megatron.core.transformer.transformer_config import TransformerConfig

from aifactory.train.device import Device

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


class Architecture(Protocol):
    """What of `aifactory.spec`'s GPT the model is made from (sizes in units of their own: layers, floats, tokens)."""

    @property
    def layers(self) -> int: ...
    @property
    def hidden(self) -> int: ...
    @property
    def heads(self) -> int: ...
    @property
    def query_groups(self) -> int | None: ...
    @property
    def ffn(self) -> int | None: ...
    @property
    def context(self) -> int: ...


def start_megatron(seed: int) -> None:
    """Make megatron's process groups (data parallel only) and seed every generator that it uses."""
    if not parallel_state.model_parallel_is_initialized():
        parallel_state.initialize_model_parallel()
    tensor_parallel.random.initialize_rng_tracker(inference_rng_tracker=True)
    torch.manual_seed(seed)
    if torch.cuda.is_available():
        tensor_parallel.random.model_parallel_cuda_manual_seed(seed)


def transformer_config(gpt: Architecture, precision: str) -> TransformerConfig:
    """Megatron's config: no dropout, no fused kernels (they need a GPU or change sums), loss summed per token."""
    return TransformerConfig(
        num_layers=gpt.layers,
        hidden_size=gpt.hidden,
        num_attention_heads=gpt.heads,
        num_query_groups=gpt.query_groups or gpt.heads,
        ffn_hidden_size=gpt.ffn or 4 * gpt.hidden,
        use_cpu_initialization=True,
        bf16=precision == "bf16",
        params_dtype=DTYPES[precision],
        pipeline_dtype=DTYPES[precision],
        attention_softmax_in_fp32=precision == "bf16",
        hidden_dropout=0.0,
        attention_dropout=0.0,
        bias_dropout_fusion=False,
        masked_softmax_fusion=False,
        bias_activation_fusion=False,
        apply_rope_fusion=False,
        gradient_accumulation_fusion=False,
        calculate_per_token_loss=True,
        deterministic_mode=True,
        finalize_model_grads_func=finalize_model_grads,
    )


def build(gpt: Architecture, vocabulary: int, precision: str, device: Device) -> GPTModel:
    """A GPT with rotary positions and one matrix for embedding and output; its weights follow torch's seed."""
    model: Any = GPTModel(
        config=transformer_config(gpt, precision),
        transformer_layer_spec=get_gpt_layer_local_spec(),
        vocab_size=vocabulary,
        max_sequence_length=gpt.context,
        position_embedding_type="rope",
        share_embeddings_and_output_weights=True,
    )
    if device.gpu:
        model = model.cuda()
    return model.to(DTYPES[precision])


def parameters(model: Any) -> int:
    """Number of distinct trained weights."""
    return sum(p.numel() for p in model.parameters())


def block_mask(segments: torch.Tensor) -> torch.Tensor:
    """segments [b, s] (which document each token belongs to) -> bool [b, 1, s, s], True where looking is forbidden.

    Token i sees token j if j <= i and both are of one document.
    """
    length = segments.shape[1]
    future = torch.triu(torch.ones(length, length, dtype=torch.bool, device=segments.device), 1)
    other = segments[:, :, None] != segments[:, None, :]
    return (future | other)[:, None]
