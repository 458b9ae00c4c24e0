# Where options come from, and what the output files hold.
. "$abs_top_srcdir/tests/tool/train.sh"
plan 56

head -n 4 data.jsonl > few.jsonl
# Options that come from elsewhere can't be on the command line as well.
bare () { # STATUS OPTION...
  run_want=$1; shift
  run "$run_want" dflash-train "$@"
}
dumped () { # a line of a dump, spaces squeezed
  sed 's/  */ /g' out | grep -qx "$1" && return
  echo "# wanted: $1"; grep "^${1%% *}" out | sed 's/^/# /'; return 1
}

# Precedence: command line, environment, file, built-in.
printf 'max-steps = 30\nlearning-rate = 0.01\nsplit-fc-layers = no\n' > c
ok 'a file of options' bare 0 --config c --dump-config
ok '  is above what is built in' dumped 'max-steps = 30 # c:1'
ok '  also flags' dumped 'split-fc-layers = false # c:3'
ok 'the environment' env DFLASH_MAX_STEPS=20 DFLASH_SPLIT_FC_LAYERS=yes \
  DFLASH_TARGET_LAYER_IDS=1,3 DFLASH_CONFIG=c sh -c \
  'dflash-train --dump-config > out'
ok '  is above it' dumped 'max-steps = 20 # environment DFLASH_MAX_STEPS'
ok '  also flags' \
  dumped 'split-fc-layers = true # environment DFLASH_SPLIT_FC_LAYERS'
ok '  also lists' dumped \
  'target-layer-ids = 1,3 # environment DFLASH_TARGET_LAYER_IDS'
ok '  and the rest of the file holds' dumped 'learning-rate = 0.01 # c:2'
ok 'the command line' env DFLASH_MAX_STEPS=20 sh -c \
  'dflash-train --config c --max-steps 10 --dump-config > out'
ok '  is above all' dumped 'max-steps = 10 # command line'
ok 'and what is built in' dumped 'accumulate = 1 # built-in'

# A run from options, from a dump of them and from its own config.txt.
run='--epochs 2 --noise 0.25 --loss dpace --dpace-alpha 0.3 --seed 5
--eval-data few.jsonl --eval-interval 5 --learning-rate 1e-3'
ok 'a run' trains 0 one $run
ok '  evaluates before, between and after' test "`
  sed -n 's/.*"step":\([0-9]*\),"eval_loss".*/\1/p' one/metrics.jsonl |
  tr '\n' ' '`" = '0 5 10 12 '
ok '  and says how far it came' grep -q \
  '^held-out accept length: [1-4]\.[0-9]* before, [1-4]\.[0-9]* after$' out
ok 'a dump of its options' run 0 dflash-train --target "$target" \
  --data data.jsonl --output one $tiny $run --dump-config
mv out dump
ok '  gives the same run' bare 0 --config dump --output two
ok '  bit by bit' alike one two
ok 'so does the config.txt in its folder' \
  bare 0 --config one/config.txt --output three
ok '  bit by bit' alike one three
ok '  and in its checkpoint' \
  cmp one/config.txt one/checkpoints/step-12/config.txt
values () { sed 's/  *#.*//;/^output/d' $1/config.txt; }
values one > a; values three > b
ok '  which it hands on' cmp a b

# Metrics.
ok 'metrics elsewhere' trains 0 o $run --metrics m.jsonl
metrics one > a; mv m.jsonl o/metrics.jsonl; metrics o > b
ok '  are the same' cmp a b
keys () { # NUMBER of the line: its keys
  sed -n "$1p" one/metrics.jsonl | grep -o '"[a-z_]*":' | tr -d '":\n'
}
ok 'a line of a step has its numbers' test "`keys 2`" = \
"stepepochlossaccuracyaccept_lengthlearning_rategrad_normtokens_per_second"
ok 'so has one of an evaluation' test "`keys 1`" = \
  "stepeval_losseval_accuracyeval_accept_lengtheval_slot_accuracy"
ok 'the rate warms up and decays' awk -F'"learning_rate":' '
  /learning_rate/ { r = $2 + 0; if (++n == 1) first = r
    if (n > 1 && r > last) bad = 1; last = r }
  END { exit bad || n != 12 || first != 0.001 || last > 0.0001 }' \
  one/metrics.jsonl

# Statistics.
stages='prefetch target postprocess drafter log'
ok 'the end has a table of the stages' test "`
  awk 'NR > 1 && NR < 7 { print $1 }' out | tr '\n' ' '`" = "$stages "
ok '  the bottleneck' grep -qxE "bottleneck: (`echo $stages | tr ' ' '|'`)" out
ok '  the allocations after the warm-up, none' \
  grep -qx 'allocations after warm-up: 0' out
ok '  the peak of memory' grep -qE '^peak memory: [0-9.]+ MiB$' out
ok '  and where the drafter is' grep -qx 'drafter: o/drafter' out
ok '--stats' trains 0 o --overwrite --max-steps 2 --stats
ok '  compares the arithmetic' grep -qE \
  '^arithmetic: [0-9.]+ GFLOP/s, [0-9.]+ of a matrix product.s [0-9.]+$' out
ok '--stats=FILE' trains 0 o --overwrite --max-steps 2 --stats=s.json
for key in steps seconds saving_seconds tokens flops \
  matrix_product_flops_per_second device_bytes host_bytes host_waits \
  peak_memory_bytes; do
  grep -qE "\"$key\": [0-9]" s.json || echo "# no $key"
done > missing
ok '  has the numbers' test ! -s missing
ok '  and no allocation' grep -q '"allocations_after_warm_up": 0,' s.json
ok '  and the stages' test "`
  sed -n 's/.*"name": "\(.*\)",/\1/p' s.json | tr '\n' ' '`" = "$stages "
check () {
  DFLASH_FAULT=save=stall@2:1500 trains 0 o --overwrite --max-steps 2 &&
    grep -qE '^2 steps, .* tokens in [0-9]*m?s .*; saving took [1-9]s$' out
}
ok 'a slow saving is not the time of the steps' check
if python3 -c 'import json' 2> /dev/null; then
  ok '  as JSON' python3 -c 'import json; json.load(open("s.json"))'
  ok 'so are the metrics' python3 -c '
import json
for line in open("one/metrics.jsonl"): json.loads(line)'
else
  skip_rest 2 'there is no python3'
fi

# The drafter.
ok 'two layers' trains 0 deep --max-steps 1 --num-draft-layers 2 \
  --target-layer-ids 0,2,5
names () {
  for i in 0 1; do
    for name in input_layernorm post_attention_layernorm mlp.down_proj \
      mlp.gate_proj mlp.up_proj self_attn.k_norm self_attn.k_proj \
      self_attn.o_proj self_attn.q_norm self_attn.q_proj self_attn.v_proj; do
      echo layers.$i.$name.weight
    done
  done
  printf '%s.weight\n' fc hidden_norm norm
}
names | sort > wanted
if python3 -c 'import numpy, safetensors' 2> /dev/null; then
  cat > reader.py <<'END_OF'
from safetensors import safe_open
with safe_open("deep/drafter/model.safetensors", "np") as f:
    for name in f.keys():
        print(name)
    assert f.get_slice("fc.weight").get_shape() == [256, 768]
    assert f.get_slice("norm.weight").get_dtype() == "BF16"
END_OF
  ok 'another reader reads the drafter' run 0 python3 reader.py
  sort out | grep weight$ > seen.sorted
  ok '  and finds its tensors, no more' diff wanted seen.sorted
else
  skip_rest 2 'there is no safetensors for python3'
fi
LC_ALL=C grep -ao '"[a-z_.0-9]*\.weight":{' deep/drafter/model.safetensors |
  tr -d '":{' | sort > seen
ok 'its header has 11 tensors a layer, and 3' cmp wanted seen
config () { tr -d ' \n' < deep/drafter/config.json | grep -q "$1"; }
ok 'its config names the layers' config '"target_layer_ids":\[0,2,5\]'
ok '  the mask' config '"mask_token_id":3,'
ok '  and the block' config '"block_size":4,'

# Going on from a drafter, which must be alike: its first layers, for one,
# are not taken for all.
eval_loss () { sed -n 's/.*"eval_loss":\([^,]*\),.*/\1/p' $1/metrics.jsonl; }
ok 'a longer run' trains 0 long --epochs 5 --eval-data few.jsonl
ok 'one that begins with its drafter' trains 0 next --epochs 1 \
  --eval-data few.jsonl --init-from long/drafter
ok '  begins where that one ended' awk -v untrained="`eval_loss long |
  sed -n 1p`" -v trained="`eval_loss long | sed -n 2p`" -v begun="`eval_loss \
  next | sed -n 1p`" 'BEGIN {
    print "# untrained", untrained, "trained", trained, "then", begun
    d = (begun - trained) / trained
    exit !(untrained > 5 * trained && d * d < 1e-4)
  }'
while IFS='|' read -r options message; do
  check () {
    trains 2 new --init-from long/drafter $options && lacks new &&
      says "^dflash-train: long/drafter.*: $message"
  }
  ok "--init-from with $options is refused" check
done <<'END_OF'
--block-size 5|trained with block size 4 and mask token 3, not 5 and 3
--mask-token-id 4094|trained with block size 4 and mask token 3, not 4 and 4094
--target-layer-ids 2|trained on other layers of the target: 3, not 2$
--num-draft-layers 2 --target-layer-ids 3|of 1 layers, not 2
END_OF
check () {
  trains 2 new --init-from deep/drafter --target-layer-ids 0,2,5 &&
    says '^dflash-train: deep/drafter: of 2 layers, not 1$'
}
ok '--init-from a deeper one is refused' check
check () {
  trains 2 new --target-devices cpu --drafter-devices cpu --compile-drafter &&
    says '^dflash-train: device cpu:*0*: a drafter can be compiled for GPUs'
}
ok '--compile-drafter on a CPU is refused' check
