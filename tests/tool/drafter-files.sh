# Drafters in the layouts of z-lab and speculators: written by dflash-train,
# checked and converted by dflash-inspect, read by Python.
. "$abs_top_srcdir/tests/tool/train.sh"
plan 51
for name in zlab speculators; do
  ok "--export=$name" trains 0 $name --max-steps 2 --save-interval 1 \
    --export $name
done
d=zlab/drafter
python_has () {
  for module; do python3 -c "import $module" 2> /dev/null || return; done
}
inspects () { want=$1; shift; run $want dflash-inspect "$@"; }
# key FOLDER TEXT: its config.json has TEXT, blanks left out.
key () { tr -d ' \n' < $1/config.json | grep -qF -- "$2"; }

# What dflash-train writes is what dflash-inspect converts to.
ok 'one becomes the other' inspects 0 --convert speculators --target "$target" \
  -o to $d
ok '  as it was written' diff -r to speculators/drafter
ok 'and back' inspects 0 --convert zlab --target "$target" -o back to
ok '  bit by bit' diff -r back $d
ok '  in silence, as nothing is lost' test ! -s err
ok 'without a target' inspects 0 --convert zlab -o lost to
ok '  the same' diff -r lost $d
ok '  with a note on what is left out' says 'embedding and head are left out'
ok 'to the same layout' inspects 0 --convert zlab -o same $d
ok '  the same' diff -r same $d
ok 'checkpoints have the layout too' \
  key speculators/checkpoints/step-2 '"speculators_model_type":"dflash"'
ok '  or the other' key zlab/checkpoints/step-2 '"dflash_config":{'
ok 'the target is called as it was given' \
  key to "\"name_or_path\":\"$target\""
ok 'or as it is said' inspects 0 --convert speculators --verifier org/name \
  -o named $d
ok '  and is' key named '"name_or_path":"org/name"'
ok 'a run says it as well' trains 0 called --max-steps 1 --export speculators \
  --verifier org/name
ok '  and does' key called/drafter '"name_or_path":"org/name"'

# Looking at drafters.
ok 'two drafters are looked at' inspects 0 $d to
ok '  both layouts are told' test "`grep -c 'in the layout of' out`" = 2
ok '  and the layers in both ways' \
  grep -q 'target layers   3 of 6; as speculators counts: 4' out
ok 'as JSON' inspects 0 --json --target "$target" to
ok '  with the layout' grep -q '"layout":"speculators"' out

# copy: a drafter to spoil.
copy () { rm -rf bad; cp -r "$1" bad; }
# replaced FOLDER OLD NEW: in its config.json, blanks left out.
replaced () {
  tr -d ' \n' < $1/config.json | sed "s|$2|$3|" > config.new &&
    ! cmp -s config.new $1/config.json && cp config.new $1/config.json
}
# Each is refused, whoever reads it.
while IFS='|' read -r folder old new message; do
  copy $folder
  replaced bad "$old" "$new"
  check () {
    inspects 2 --target "$target" bad && test ! -s out &&
      says "^dflash-inspect: bad/.*: $message" &&
      inspects 2 --convert zlab --target "$target" -o none bad && lacks none &&
      trains 2 none --init-from bad && lacks none &&
      says "^dflash-train: bad/.*: $message"
  }
  ok "$message" check
done <<'END_OF'
zlab/drafter|"mask_token_id":3|"mask_token_id":0|mask_token_id is 0, and so is
zlab/drafter|"target_layer_ids":\[3\]|"target_layer_ids":[6]|target layer id 6 is not within 0 and 5
zlab/drafter|"rope_type":"default"|"rope_type":"default","partial_rotary_factor":0.5|partial_rotary_factor 0.5 is not
zlab/drafter|"hidden_size":256|"hidden_size":128|tensor fc.weight has shape .256, 256., config.json wants .128, 128.
zlab/drafter|"num_hidden_layers":1|"num_hidden_layers":2|layer_types has 1 entries for 2 layers
zlab/drafter|"vocab_size":4096|"vocab_size":4000|vocab_size is 4000, but the target's is 4096
to|"aux_hidden_state_layer_ids":\[4\]|"aux_hidden_state_layer_ids":[0]|aux_hidden_state_layer_ids holds 0, the embedding's output
to|"speculative_tokens":3|"speculative_tokens":4|speculators_config: speculative_tokens is 4, but a block of 4 has 3
to|"draft_vocab_size":4096|"draft_vocab_size":4000|tensor lm_head.weight has shape .4096, 256., config.json wants .4000, 256.
END_OF
ok 'not a drafter but a target' inspects 2 "$target"
ok '  is told' says "architecture 'Qwen3ForCausalLM' is not supported"

# Mistakes, and folders that are there.
while IFS='|' read -r options message; do
  check () { inspects 2 $options && says "$message"; }
  ok "$message" check
done <<END_OF
--convert zlab $d|--convert needs --output
-o x $d|--output needs --convert
--convert zlab -o x $d $d|--convert takes one drafter
--convert zlab --verifier x -o x $d|--verifier needs --convert=speculators
--convert speculators -o x $d|doesn't name its target
--convert zlab -o to $d|to: has a config.json: --force replaces it
--convert zlab -o $d --force $d|is the drafter's own folder
--dump 1 $d|--pass, --repair, --compare and --dump are for captures
data.jsonl $d|drafters and captures are looked at apart
END_OF
cp -r to old
ok '--force replaces' inspects 0 --convert zlab -o old --force $d
ok '  what was there' diff -r old $d

# Going on from either: options follow the drafter.
like='--block-size 4 --num-draft-layers 1'
for from in $d to; do
  check () {
    dflash-train --target "$target" --data data.jsonl --output next \
      --num-anchors 4 --max-length 64 --token-budget 128 --max-batch-size 2 \
      --min-ready 2 --max-steps 1 --overwrite --init-from $from > out 2> err &&
      mv next "next-`echo $from | tr / -`"
  }
  ok "--init-from $from" check
done
ok '  is the same from both' alike next-zlab-drafter next-to

# Other readers.
if python_has numpy safetensors; then
  cat > reader.py <<'END_OF'
import json
from safetensors import safe_open

def load(folder):
    tensors = {}
    with safe_open(folder + "/model.safetensors", "np") as f:
        assert f.metadata() == {"format": "pt"}
        names = list(f.keys())
        for name in names:
            part = f.get_slice(name)
            tensors[name] = (part.get_shape(), part.get_dtype())
    raw = open(folder + "/model.safetensors", "rb").read()
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:8 + size])
    for name in names:
        a, b = header[name]["data_offsets"]
        tensors[name] += (raw[8 + size + a:8 + size + b],)
    return tensors

zlab, other = load("zlab/drafter"), load("speculators/drafter")
assert len(zlab) == 14 and all(t[1] == "BF16" for t in other.values())
assert all(other[name] == zlab[name] for name in zlab)
assert set(other) - set(zlab) == {"embed_tokens.weight", "lm_head.weight"}
target = load("target")
embedding = target["model.embed_tokens.weight"]
assert other["embed_tokens.weight"] == embedding
assert other["lm_head.weight"] == target.get("lm_head.weight", embedding)
assert zlab["fc.weight"][0] == [256, 256]
c = json.load(open("speculators/drafter/config.json"))
assert c["architectures"] == ["DFlashDraftModel"]
assert c["transformer_layer_config"]["model_type"] == "qwen3"
assert c["aux_hidden_state_layer_ids"] == [4]
assert c["speculators_config"]["proposal_methods"][0][
    "speculative_tokens"] == 3
END_OF
  ln -s "$target" target
  ok 'Python reads the same from both' run 0 python3 reader.py
else
  skip_rest 1 'python3 has no numpy and safetensors'
fi
drafter=${DFLASH_SHARED-}/models/tiny-drafter
if ! python_has torch safetensors transformers; then
  skip_rest 1 'python3 has no torch, safetensors and transformers'
else
  test -d "$drafter" || drafter=$d
  check () {
    run 0 "$abs_top_builddir/tests/golden/logits" "$target" "$drafter" \
      logits.safetensors &&
      run 0 python3 "$abs_top_srcdir/tests/golden/logits.py" "$target" \
        "$drafter" logits.safetensors && sed 's/^/# /' out
  }
  ok 'torch computes the same logits' check
fi
