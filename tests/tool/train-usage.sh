# Mistakes on dflash-train's command line: a line that names the option or
# the variable, status 2, and nothing written.
. "$abs_top_srcdir/tests/tool/train.sh"

# A variable or "-", words of the command line, message.
cat > mistakes <<'END_OF'
-|--frob|unrecognized option '--frob'
-|--max-steps|option '--max-steps' requires an argument
-|--resume=yes|option '--resume' doesn't allow an argument
-|word|extra operand 'word'
-|--target-postprocess-depth=0|--target-postprocess-depth: 0 is not within 1 and 64
-|--target-postprocess-depth=-1|--target-postprocess-depth: -1 is not within 1 and 64
-|--target-postprocess-depth=abc|--target-postprocess-depth: 'abc' is not a whole number
-|--target-postprocess-depth=1e9|--target-postprocess-depth: '1e9' is not a whole number
-|--target-postprocess-depth=|--target-postprocess-depth: '' is not a whole number
DFLASH_TARGET_POSTPROCESS_DEPTH=0||DFLASH_TARGET_POSTPROCESS_DEPTH (--target-postprocess-depth): 0 is not within 1 and 64
DFLASH_TARGET_POSTPROCESS_DEPTH=-1||DFLASH_TARGET_POSTPROCESS_DEPTH (--target-postprocess-depth): -1 is not within 1 and 64
DFLASH_TARGET_POSTPROCESS_DEPTH=abc||DFLASH_TARGET_POSTPROCESS_DEPTH (--target-postprocess-depth): 'abc' is not a whole number
DFLASH_TARGET_POSTPROCESS_DEPTH=1e9||DFLASH_TARGET_POSTPROCESS_DEPTH (--target-postprocess-depth): '1e9' is not a whole number
DFLASH_TARGET_POSTPROCESS_DEPTH=||DFLASH_TARGET_POSTPROCESS_DEPTH (--target-postprocess-depth): '' is not a whole number
DFLASH_MAX_STEPS=7 ||DFLASH_MAX_STEPS (--max-steps): '7 ' is not a whole number
DFLASH_RESUME=maybe||DFLASH_RESUME (--resume): 'maybe' is neither true nor false
-|--block-size 1|--block-size: 1 is not within 2 and 64
-|--block-size 65|--block-size: 65 is not within 2 and 64
-|--num-draft-layers 0|--num-draft-layers: 0 is not within 1 and 256
-|--num-anchors 0|--num-anchors: 0 is not within 1 and 1048576
-|--prefetch-threads 0|--prefetch-threads: 0 is not within 1 and 64
-|--min-ready 0|--min-ready: 0 is not within 1 and 4096
-|--accumulate 0|--accumulate: 0 is not within 1 and 65536
-|--max-steps 0x10|--max-steps: '0x10' is not a whole number
-|--max-steps 99999999999999999999|--max-steps: 99999999999999999999 is not within 1 and 4294967295
-|--learning-rate nan|--learning-rate: 'nan' is not a decimal number
-|--learning-rate inf|--learning-rate: 'inf' is not a decimal number
-|--learning-rate 1e-4x|--learning-rate: '1e-4x' is not a decimal number
-|--learning-rate 0|--learning-rate: 0 is not above 0 and at most 1e+03
-|--learning-rate -1|--learning-rate: -1 is not above 0 and at most 1e+03
-|--noise -0.5|--noise: -0.5 is not within 0 and 1e+06
-|--warmup-ratio 1.5|--warmup-ratio: 1.5 is not within 0 and 1
-|--cache lots|--cache: 'lots' is not a size such as 4096 or 64KiB
-|--loss mse|--loss: 'mse' is not one of dflash, dpace
-|--transport pigeon|--transport: 'pigeon' is not one of auto, host, peer, local
-|--train-on first|--train-on: 'first' is not one of all, last
-|--stats=|--stats: the value is empty
-|--target-layer-ids 1,,2|--target-layer-ids: '' is not a whole number
-|--target-layer-ids -1|--target-layer-ids: -1 is not within 0 and 255
-|--target-layer-ids 1,6|--target-layer-ids: layer 6, but @ has layers 0 to 5
-|--target-layer-ids 3,3|--target-layer-ids: layer 3 twice
-|--target-layer-ids 3,1|--target-layer-ids: layer 1 behind layer 3
DFLASH_TARGET_LAYER_IDS=3,1||DFLASH_TARGET_LAYER_IDS (--target-layer-ids): layer 1 behind layer 3
-|--mask-token-id 4096|--mask-token-id: 4096, but the embedding of @ has 4096 rows
-|--mask-token-id -1|--mask-token-id: -1 is not within 0 and 2147483647
-|--max-length 100 --token-budget 99|--token-budget: 99 is below --max-length, which is 100
-|--max-batch-size 129|--max-batch-size: 129 is above --token-budget, which is 128
-|--target-devices gpu|--target-devices: device 'gpu' is not cpu, cpu:N or cuda:N with N from 0 to 63
-|--drafter-devices cpu:0,,cpu:1|--drafter-devices: device '' is not cpu, cpu:N or cuda:N with N from 0 to 63
-|--target-devices cpu:64x|--target-devices: device 'cpu:64x' is not cpu, cpu:N or cuda:N with N from 0 to 63
-|--num-draft-layers 5|--num-draft-layers: the 6 layers of @ are too few for 5: give less, or name layers with --target-layer-ids
-|--resume --overwrite|--resume and --overwrite exclude each other
-|--captures x.h5|--data and --captures exclude each other
-|--eval-captures x.h5|--eval-captures needs --captures
-|--spool x.dfs|--spool needs --captures -
-|--config absent.conf|--config: absent.conf: No such file or directory
END_OF

# Options that are left out: the others, and the one that is missed.
cat > required <<'END_OF'
--data=data.jsonl --output=new|--target is required
--target=t --output=new|--data or --captures is required
--target=t --data=data.jsonl|--output is required
END_OF

n=`cat mistakes required | wc -l`
plan `expr $n + 15`

# The message, then where to look, and nothing else.
mistake () {
  { echo "dflash-train: $1"
    echo "Try 'dflash-train --help' for more information."; } > wanted
  diff wanted err > diff.out && test ! -s out && lacks new && return
  sed 's/^/# /' diff.out; return 1
}
while IFS='|' read -r env words message; do
  message=`echo "$message" | sed "s|@|$target|"`
  test "$env" = - && env=DFLASH_UNUSED_=
  check () {
    run 2 env "$env" dflash-train --target "$target" --data data.jsonl \
      --output new $tiny $words && mistake "$message"
  }
  ok "refused: $message" check
done < mistakes
while IFS='|' read -r words message; do
  check () { run 2 dflash-train $words && mistake "$message"; }
  ok "refused: $message" check
done < required

ok '--help succeeds' run 0 dflash-train --help
ok '  on stdout' test ! -s err
ok '  and says what stands for the number of epochs' \
  grep -q '\[1, or what --max-steps$' out
ok '  within 79 columns' test `awk 'length > 79' out | wc -l` = 0
ok '--version succeeds' run 0 dflash-train --version
ok '  as GNU has it' test "`sed 1q out`" = "dflash-train (dflash) $VERSION"
full='dflash-train: standard output: No space left on device'
for o in --help --version --dump-config; do
  check () {
    run 2 sh -c "dflash-train $o > /dev/full" && test "`cat err`" = "$full"
  }
  ok "$o tells of write errors" check
done
check () {
  run 2 sh -c 'dflash-train "$@" > /dev/full' - --target "$target" \
    --data data.jsonl --output whole $tiny --max-steps 1
}
ok 'so does the report at the end' check
ok '  by name' says "^$full$"
ok '  and has the drafter written before it' \
  test -f whole/drafter/model.safetensors
check () {
  trains 0 slip --max-steps 1 &&
    DFLASH_MAX_STEP=3 trains 0 slip --max-steps 1 --overwrite
}
only_warning () {
  test "`grep -c warning: err`" = 1 || { sed 's/^/# /' err; return 1; }
}
ok 'a slip in the name of a variable' check
ok '  brings a warning' says 'no option reads the variable DFLASH_MAX_STEP'
ok '  which is the only one' only_warning
