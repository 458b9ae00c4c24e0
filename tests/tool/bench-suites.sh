# The suites of dflash-bench that have a target: what their rows say, other
# shapes and targets, several devices, and what is refused.
. "$abs_top_srcdir/tests/init.sh"
plan 36

fast='--repeat 3 --min-time 0'
TMPDIR=$tmp; export TMPDIR
# has KEY...: the line of JSON in file line has each of them.
has () { for key; do grep -q "\"$key\":" line || return 1; done; }

ok 'a forward pass in time' run 0 dflash-bench forward $fast --json \
  --only '4x64/packed'
mv out line
ok 'in tokens a second, with operations and memory' has of_ceiling TFLOP/s GiB
ok 'which is right' grep -q '"result":"right","error":0.0' line

ok 'a step by part' run 0 dflash-bench step $fast --json
grep '/whole"' out > line
ok 'the whole has its parts' has attention_us head_us optimizer_us rest_us
ok 'one step without its parts' run 0 dflash-bench step $fast --json \
  --only /whole
mv out line
ok 'has none' sh -c '! grep -q _us line'

ok 'a pipeline' run 0 dflash-bench pipeline $fast --only host/split/depth2
ok 'has the stage table as remarks' test \
  "`grep -cE '^#  +(prefetch|target|postprocess|drafter|log|bottleneck:) ' out`" = 6
# The window is from one record of the log to another; the drafter may be a
# step ahead at either.
ok 'three steps of samples' grep -qE '^#  +log +1 +3 ' out
DFLASH_FAULT=target=delay:300 ok 'a slow target' run 0 dflash-bench pipeline \
  $fast --only local/split
ok 'is the bottleneck' grep -q '^#  *bottleneck: target' out
run 0 dflash-bench pipeline $fast --only host/split/depth2
ok 'its row says where time went' grep -q \
  'right overall_tokens/s=.* accept=.* target_busy=.* drafter_busy=' out
ok 'JSON' run 0 dflash-bench pipeline $fast --only local/packed --json
mv out line
ok 'has it too' has overall_tokens/s accept target_busy samples_s
ok 'and nothing but an object' test "`grep -c '^{.*}$' line`" = \
  "`wc -l < line`"

ok 'captures' run 0 dflash-bench capture $fast --json
ok 'four, each beside the forward pass' test \
  "`grep -c '"of_forward":' out`" = 4
ok 'leave nothing behind' sh -c 'test -z "`ls -d dflash-bench.*`"' 2> /dev/null
DFLASH_FAULT=x ok 'a capture that does not begin' run 2 dflash-bench capture \
  --check --only hdf5
ok 'leaves nothing either' sh -c 'test -z "`ls -d dflash-bench.*`"' 2> /dev/null
TMPDIR=$tmp/no ok 'nowhere to write' run 2 dflash-bench capture --check
ok 'says where' grep -q 'no/dflash-bench.*: No such file' err

# sweep OPTION...: the best setting in file best.
sweep () {
  run 0 dflash-bench sweep $fast "$@" || return
  sed -n '/^# best/{n;s/^# *//;p;}' out > best
}
ok 'a sweep' sweep --only '/host/packed/depth2/ready'
ok 'prints the best as options' test "`wc -l < best`" = 1
ok 'that dflash-train takes' run 0 dflash-train --dump-config \
  -t "$abs_top_srcdir/share/demo/target" \
  -d "$abs_top_srcdir/share/demo/train.jsonl" -o run `cat best`
ok 'with the values of a case' test "`grep -cE \
  '^(split-fc-layers = false|transport = host|target-postprocess-depth = 2) *#.*command' out`" = 3
ok 'two devices' sweep --devices cpu,cpu:1 --check --only '128/1.1/host/split'
ok 'targets on one, drafters on the other' test \
  "`grep -c ' 128/1+1/host/split.* right' out`" = 6

ok 'another target, and other shapes' run 0 dflash-bench forward step \
  pipeline capture --check -t "$abs_top_srcdir/share/demo/target" \
  --num-draft-layers 2 --token-budget 96 --max-length 48 --num-anchors 3 \
  --block-size 4
ok 'are in the names' grep -q ' 2x48/whole .* right' out
ok 'random weights in given shapes' run 0 dflash-bench forward --check \
  -t "random:$abs_top_srcdir/share/demo/target/config.json:7" \
  --target-layer-ids 0,5 --max-length 16 --token-budget 16
ok 'a budget below a sequence' run 2 dflash-bench --max-length 300 forward
ok 'is named' grep -q -e '--token-budget: 256 is below --max-length' err
ok 'a layer that is none' run 2 dflash-bench --target-layer-ids 1,99 forward
ok 'is named' grep -q -e '--target-layer-ids: layer 99, but random has' err
