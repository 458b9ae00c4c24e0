"""logits.py TARGET DRAFTER LOGITS: the forward pass of a drafter in plain
torch, against what tests/golden/logits wrote into the file LOGITS.

DRAFTER is read as an engine reads it: config.json through transformers, the
tensors by their names.  The pass runs twice, in float32 and in bfloat16;
the limit of the error is what bfloat16 itself shows against float32.
"""
import sys

import torch
from safetensors.torch import load_file
from transformers import AutoConfig

target_folder, drafter_folder, path = sys.argv[1:]
config = AutoConfig.from_pretrained(drafter_folder)
given = load_file(path)
weights = load_file(drafter_folder + "/model.safetensors")
target = load_file(target_folder + "/model.safetensors")
embedding = target["model.embed_tokens.weight"]
head = target.get("lm_head.weight", embedding)
tap = config.dflash_config
size = config.block_size
rope = getattr(config, "rope_parameters", None) or {}
theta = rope.get("rope_theta", getattr(config, "rope_theta", None))
heads, kv_heads = config.num_attention_heads, config.num_key_value_heads
dim = config.head_dim


def norm(x, weight):
    wide = x.float()
    wide = wide * torch.rsqrt(wide.pow(2).mean(-1, True) + config.rms_norm_eps)
    return weight * wide.to(x.dtype)


def rotate(x, positions):
    """x [rows, heads, dim] at positions [rows]."""
    steps = torch.arange(0, dim, 2, dtype=torch.float32) / dim
    angles = positions.float()[:, None] * theta ** -steps
    cos = torch.cat([angles, angles], -1).cos()[:, None].to(x.dtype)
    sin = torch.cat([angles, angles], -1).sin()[:, None].to(x.dtype)
    half = dim // 2
    turned = torch.cat([-x[..., half:], x[..., :half]], -1)
    return x * cos + turned * sin


def visible(anchor, window):
    """[size, anchor + size]: which context tokens and slots a slot sees."""
    slots = torch.arange(size)
    keys = torch.arange(anchor)
    context = torch.ones(size, anchor, dtype=torch.bool)
    block = torch.ones(size, size, dtype=torch.bool)
    if window:
        context = keys[None] >= anchor + slots[:, None] - (window - 1)
        block = slots[None] <= slots[:, None]
    return torch.cat([context, block], 1)


def layer(w, name, x, context, anchor, window):
    def linear(rows, part):
        return rows @ w["layers.%d.%s.weight" % (name, part)].T

    def normed(rows, part):
        return norm(rows, w["layers.%d.%s.weight" % (name, part)])

    own = normed(x, "input_layernorm")
    source = torch.cat([context, own])
    places = torch.arange(anchor + size)
    q = linear(own, "self_attn.q_proj").view(size, heads, dim)
    k = linear(source, "self_attn.k_proj").view(-1, kv_heads, dim)
    v = linear(source, "self_attn.v_proj").view(-1, kv_heads, dim)
    q = rotate(normed(q, "self_attn.q_norm"), places[anchor:])
    k = rotate(normed(k, "self_attn.k_norm"), places)
    k = k.repeat_interleave(heads // kv_heads, 1)
    v = v.repeat_interleave(heads // kv_heads, 1)
    scores = torch.einsum("qhd,khd->hqk", q, k).float() * dim ** -0.5
    scores = scores.masked_fill(~visible(anchor, window), float("-inf"))
    mixed = torch.einsum("hqk,khd->qhd", scores.softmax(-1).to(x.dtype), v)
    x = x + linear(mixed.reshape(size, -1), "self_attn.o_proj")
    y = normed(x, "post_attention_layernorm")
    gate = torch.nn.functional.silu(linear(y, "mlp.gate_proj"))
    return x + linear(gate * linear(y, "mlp.up_proj"), "mlp.down_proj")


def logits(dtype):
    w = {name: tensor.to(dtype) for name, tensor in weights.items()}
    features = given["features"].to(dtype)
    context = norm(features @ w["fc.weight"].T, w["hidden_norm.weight"])
    blocks = []
    for anchor in given["anchors"].tolist():
        ids = torch.full([size], tap["mask_token_id"])
        ids[0] = given["input_ids"][anchor]
        x = embedding.to(dtype)[ids]
        for i in range(config.num_hidden_layers):
            slides = config.layer_types[i] == "sliding_attention"
            window = config.sliding_window if slides else None
            x = layer(w, i, x, context[:anchor], anchor, window)
        blocks.append(norm(x, w["norm.weight"]) @ head.to(dtype).T)
    return torch.stack(blocks).double()


def error(a, b):
    return ((a - b).norm() / b.norm()).item()


seen = given["logits"].double()
with torch.no_grad():
    exact, narrow = logits(torch.float32), logits(torch.bfloat16)
limit = 1.5 * error(narrow, exact)
off = error(seen, exact)
print("error %.2e, limit %.2e (bfloat16 against float32: %.2e)"
      % (off, limit, error(narrow, exact)))
agree = (seen.argmax(-1) == exact.argmax(-1)).double().mean().item()
print("the same prediction in %.1f %% of the slots" % (100 * agree))
assert tap["target_layer_ids"] == sorted(tap["target_layer_ids"])
assert config.architectures == ["DFlashDraftModel"]
sys.exit(not off <= limit or agree < 0.97)
