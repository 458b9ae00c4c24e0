# kill -9 while a checkpoint is being written, twenty times: --resume works
# each time, and goes on to what an unbroken run is.
. "$abs_top_srcdir/tests/tool/train.sh"
plan 46

run='--epochs 9 --save-interval 1 --keep 2 --seed 3'
ok 'an unbroken run of 54 steps' trains 0 whole $run

last () { # of OUTPUT's whole checkpoints, or 0
  ls "$1/checkpoints" 2> /dev/null | sed -n 's/^step-\([0-9]*\)$/\1/p' |
    sort -n | tail -n 1 | grep . || echo 0
}
# The run goes on, slowly at PLACE of each saving, and is killed WAIT seconds
# after the folder of the second step from here is there.
killed_at () { # PLACE WAIT
  next=`last o`; next=`expr $next + 2`
  DFLASH_FAULT=checkpoint=stall@$1:150 dflash-train --target "$target" \
    --data data.jsonl --output o $tiny $run --resume > out 2> err &
  pid=$!
  for tick in `seq 400`; do
    test -e o/checkpoints/step-$next.tmp && break
    test -e o/checkpoints/step-$next && break
    sleep 0.02
  done
  sleep $2
  kill -9 $pid; wait $pid 2> /dev/null
  test $? = 137 && return
  sed 's/^/# /' err; return 1
}
saved () { # what the run said it began with
  sed -n 's/.*resuming from .*step-\([0-9]*\)$/\1/p' err
}
i=0
while test $i -lt 20; do
  place=`expr $i % 6`
  before=`last o`
  ok "kill $i, at place $place, of a run that goes on from step $before" \
    killed_at $place 0.0`expr $i % 4`
  ok '  resumes from the last whole checkpoint' \
    test "`saved`" = "`echo $before | sed 's/^0$//'`"
  i=`expr $i + 1`
done
ok 'the last of them goes on to the end' trains 0 o $run --resume
ok '  and is the unbroken run' alike whole o
ok '  with every step once' test "`steps_of o`" = "`seq -s' ' 54` "
ok '  and the same checkpoints' test "`ls o/checkpoints | tr '\n' ' '`" = \
  'step-53 step-54 '
ok '  to the last bit' cmp whole/checkpoints/step-54/state.safetensors \
  o/checkpoints/step-54/state.safetensors
