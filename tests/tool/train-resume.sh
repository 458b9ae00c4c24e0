# A run that was stopped goes on as if it hadn't been.
. "$abs_top_srcdir/tests/tool/train.sh"
plan 90

run='--epochs 3 --noise 0.1 --save-interval 4 --seed 7'
eval='--eval-data few.jsonl --eval-interval 5'
head -n 3 data.jsonl > few.jsonl
all='1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 '
checkpoints () { ls "$1/checkpoints" | sort | tr '\n' ' '; }
# stop SIGNAL STATUS OUTPUT STEP OPTION...: a run that is sent SIGNAL when it
# has done STEP steps, each of which takes a while.
stop () {
  signal=$1; want=$2; into=$3; step=$4; shift 4
  DFLASH_FAULT=drafter=stall:400 dflash-train --target "$target" --data \
    data.jsonl --output "$into" $tiny $run "$@" > out 2> err &
  pid=$!
  for tick in `seq 200`; do
    test "`steps_of "$into" 2> /dev/null | wc -w`" -ge "$step" && break
    sleep 0.05
  done
  kill -s "$signal" $pid; wait $pid; got=$?
  test $got = "$want" && return
  echo "# exit status $got, wanted $want"; sed 's/^/# /' err; return 1
}

ok 'an unbroken run' trains 0 whole $run
ok '  of 18 steps' test "`steps_of whole`" = "$all"
ok '  leaves its newest checkpoints' \
  test "`checkpoints whole`" = 'step-12 step-16 step-18 '

# Stopped amid an epoch: the second one has the steps 7 to 12.
ok 'SIGTERM amid epoch 2' stop TERM 143 term 8
ok '  is acknowledged' says 'finishing the step; a second signal ends at once'
ok '  and how to go on' grep -q '^stopped; go on with --resume$' out
ok '  ends the run there' test "`steps_of term | wc -w`" -lt 12
last=`steps_of term | awk '{ print $NF }'`
ok '  with a checkpoint' test -f term/checkpoints/step-$last/state.json
ok '  and no drafter yet' lacks term/drafter
ok 'resumed' trains 0 term $run --resume
ok '  from that checkpoint' says "resuming from term/checkpoints/step-$last$"
ok '  it is the unbroken run' alike whole term
arrays=checkpoints/step-18/state.safetensors
ok '  and so is its checkpoint' cmp whole/$arrays term/$arrays

ok 'SIGINT' stop INT 130 int 3
ok 'resumed with other threads and devices' trains 0 int $run --resume \
  --prefetch-threads 1 --target-devices cpu:0,cpu:1 --no-split-fc-layers
ok '  it is the unbroken run' alike whole int

# Nor does a signal wait for the end of an evaluation: of the six batches
# behind step 6, the second takes a while.
often='--eval-data data.jsonl --eval-interval 6'
ok 'an unbroken run with evaluations' trains 0 often $run $often
check () {
  DFLASH_FAULT=drafter=stall@13:2000 dflash-train --target "$target" --data \
    data.jsonl --output cut $tiny $run $often > out 2> err &
  pid=$!
  for tick in `seq 400`; do
    test "`steps_of cut 2> /dev/null | wc -w`" -ge 6 && break
    sleep 0.02
  done
  kill -s TERM $pid; wait $pid
  test $? = 143 && test "`steps_of cut`" = '1 2 3 4 5 6 '
}
ok 'SIGTERM amid an evaluation' check
ok '  of which nothing is told' sh -c '
  test `grep -c "\"eval" cut/metrics.jsonl` = 1'
ok '  with a checkpoint' test -f cut/checkpoints/step-6/state.json
ok 'resumed' trains 0 cut $run $often --resume
ok '  it is the unbroken run' alike often cut

# A second signal doesn't wait for the step, which waits for a target.  Nor
# does it join threads, which the thread sanitizer would report.
check () {
  DFLASH_FAULT=target=stall@3:20000 \
  TSAN_OPTIONS="${TSAN_OPTIONS-}:report_thread_leaks=0" dflash-train --target "$target" --data \
    data.jsonl --output twice $tiny $run --min-ready 1 > out 2> err &
  pid=$!
  for tick in `seq 1200`; do
    test -s twice/metrics.jsonl && break
    sleep 0.05
  done
  kill -s TERM $pid
  # A slow build hears it a little later.
  for tick in `seq 200`; do
    grep -q 'finishing the step' err && break
    sleep 0.05
  done
  kill -s 0 $pid || echo '# it ended at the first signal'
  start=`date +%s`; kill -s TERM $pid; wait $pid; got=$?
  echo "# `expr \`date +%s\` - $start` seconds"
  test $got = 143 && test `expr \`date +%s\` - $start` -lt 5
}
ok 'a second signal ends at once' check
ok '  and the first one was heard' says 'finishing the step'

# Stopped at an epoch's end, which is not a step that is saved anyway.
cut_at () { # OUTPUT STEP: as if it had been killed behind the saving of STEP.
  rm -rf "$1"; cp -r whole "$1"; rm -r "$1/drafter"
  for c in "$1"/checkpoints/*; do
    test ${c##*step-} -le $2 || rm -r "$c"
  done
}
ok 'a run with checkpoints at epochs ends' \
  trains 0 epochs $run --save-interval 6 --keep 0
ok '  has all of them' \
  test "`checkpoints epochs`" = 'step-12 step-18 step-6 '
rm -r epochs/checkpoints/step-18 epochs/drafter
ok 'resumed at the end of epoch 2' \
  trains 0 epochs $run --save-interval 6 --resume
ok '  from there' says 'resuming from epochs/checkpoints/step-12$'
ok '  it is the unbroken run' alike whole epochs
rm -r epochs/checkpoints/step-1* epochs/drafter
ok 'resumed at the end of epoch 1' trains 0 epochs $run --resume
ok '  it is the unbroken run' alike whole epochs

# Killed: what was done behind the checkpoint is done again, once.
cut_at killed 12
tail -n 3 killed/metrics.jsonl >> killed/metrics.jsonl
printf '{"step":19,"epo' >> killed/metrics.jsonl
ok 'resumed behind a kill' trains 0 killed $run --resume
ok '  from the last checkpoint' \
  says 'resuming from killed/checkpoints/step-12$'
ok '  it has every step once' test "`steps_of killed`" = "$all"
ok '  and is the unbroken run' alike whole killed
cut_at none 0
ok 'resumed without a checkpoint' trains 0 none $run --resume
ok '  it begins anew' says 'none/checkpoints: no checkpoint yet: begin.* 0$'
ok '  and is the unbroken run' alike whole none

# Evaluations.
ok 'a run with evaluations' trains 0 evals $run $eval --keep 0 \
  --save-interval 5
evaluations () {
  sed -n 's/.*"step":\([0-9]*\),"eval_loss":\([^,]*\),.*/\1 \2/p' \
    $1/metrics.jsonl
}
ok '  at their steps' test "`evaluations evals | cut -d' ' -f1 |
  tr '\n' ' '`" = '0 5 10 15 18 '
metrics evals > wanted
rm -r evals/drafter evals/checkpoints/step-15 evals/checkpoints/step-18
ok 'resumed where one is due' trains 0 evals $run $eval --resume
metrics evals > got
ok '  it does each once and sees the same' diff wanted got
check () {
  metrics evals > got
  says 'evals: all 18 steps are done: nothing to train' && diff wanted got
}
ok 'resumed when all is done' trains 0 evals $run $eval --resume
ok '  its last evaluation is done again' check
sed '$d' wanted > evals/metrics.jsonl
ok 'resumed behind a kill before that' trains 0 evals $run $eval --resume
ok '  likewise' check
ok 'resumed without evaluations' trains 0 evals $run --resume
ok '  those that were done stay' check

# Broken checkpoints.
broken () { # LABEL COMMANDS; in the folder of the newest checkpoint
  cut_at broken 16
  ( cd broken/checkpoints/step-16 && eval "$2" )
  ok "a checkpoint with $1" trains 0 broken $run --resume
  ok '  is passed over' says 'warning: broken/checkpoints: 1 newer chec.* pas'
  ok '  for the one before' says 'resuming from broken/checkpoints/step-12$'
  ok '  with which it is the unbroken run' alike whole broken
}
broken 'half its weights' 'truncate -s 100000 state.safetensors'
broken 'no state' 'rm state.json'
broken 'half its state' 'truncate -s 30 state.json'
broken 'nothing' 'rm *'
cut_at broken 16
mv broken/checkpoints/step-16 broken/checkpoints/step-16.tmp
ok 'a checkpoint that was being written' trains 0 broken $run --resume
ok '  does not count' says 'resuming from broken/checkpoints/step-12$'
ok '  and goes' \
  test "`checkpoints broken`" = 'step-12 step-16 step-18 '
cut_at broken 16; rm broken/checkpoints/step-16/state.json
ok 'a newer broken checkpoint' \
  trains 0 broken $run --resume --save-interval 3 --keep 1 --max-steps 18
ok '  does not count among those to keep' \
  test "`checkpoints broken`" = 'step-18 '

cut_at broken 12; rm broken/checkpoints/step-12/state.json
metrics broken > before
ok 'where no checkpoint is whole' trains 2 broken $run --resume
ok '  none is named' says 'broken/checkpoints: none of the 1 checkpoints can'
metrics broken > after
ok '  and nothing begins anew' cmp before after

# What a resumed run must share.
cp -r "$target" like
sed 's/1e-06/1e-05/' "$target/config.json" > like/config.json
while IFS='|' read -r options message; do
  cut_at other 12; find other -type f | xargs cksum | sort > before
  check () {
    trains 2 other $run --resume $options && says \
      "^dflash-train: other/checkpoints/step-12: written with $message: a run" \
      && find other -type f | xargs cksum | sort > after && cmp before after
  }
  ok "resumed with $options, it is refused" check
done <<'END_OF'
--seed 8|seed = 7, but now it is 8
--loss dpace|loss = "dflash", but now it is "dpace"
--learning-rate 1e-3|learning-rate = 0.0006.*, but now it is 0.001
--noise 0|noise = 0.1.*, but now it is 0.0
--num-anchors 5|num-anchors = 4, but now it is 5
--token-budget 96|token-budget = 128, but now it is 96
--target like|target config = "[0-9a-f]*", but now it is "[0-9a-f]*"
--train-on last|train-on = "all", but now it is "last"
--target-layer-ids 2|target-layer-ids = \[3\], but now it is \[2\]
--accumulate 3 --epochs 9|accumulate times the drafters = 1, but now it is 3
--epochs 4|steps of epochs and max-steps = 18, but now it is 24
END_OF

check () {
  trains 2 other $run --resume --epochs 1 && says \
    '^dflash-train: other/checkpoints/step-12: begun with more steps than --ep'
}
ok 'resumed with less steps than were done, it is refused' check

# Nothing left to do.
rm -r whole/drafter; metrics whole > before
ok 'a run that is done, resumed' trains 0 whole $run --resume
ok '  says so' says 'whole: all 18 steps are done: nothing to train'
ok '  writes the drafter' test -f whole/drafter/model.safetensors
metrics whole > after
ok '  and leaves the metrics' cmp before after

# --keep.
ok '--keep 1' trains 0 keep $run --save-interval 2 --keep 1
ok '  keeps the last' test "`checkpoints keep`" = 'step-18 '
