# A pipe that falls silent: the first signal ends who reads it, in a second,
# and what came before is kept.
. "$abs_top_srcdir/tests/tool/train.sh"
. "$abs_top_srcdir/tests/tool/capture.sh"
plan 19
ok 'a stream' captures 0 all.dfs
size=`wc -c < all.dfs`
head -c `expr $size '*' 3 / 4` all.dfs > part.dfs
mkfifo fifo

# hush FILE: FILE into the named pipe, and then nothing for a long while.
hush () { { cat "$1"; exec sleep 100; } > fifo 2> /dev/null & hushing=$!; }
# ends STATUS [TENTHS]: whether $pid ends with STATUS, in a second and a bit.
ends () {
  for tick in `seq ${2-15}`; do
    kill -0 $pid 2> /dev/null || break
    sleep 0.1
  done
  kill -0 $pid 2> /dev/null && { echo '# still there'; kill -9 $pid; }
  wait $pid; got=$?
  test -z "$hushing" || { kill $hushing; wait $hushing; } 2> /dev/null
  test $got = $1 && return
  echo "# exit status $got, wanted $1"; sed 's/^/# /' err; return 1
}
# await PATTERN FILE
await () {
  for tick in `seq 100`; do
    grep -q -- "$1" "$2" 2> /dev/null && return
    sleep 0.1
  done
  echo "# no $1 in $2"; return 1
}
trains_from () { # OUTPUT FILE OPTION...
  into=$1 from=$2; shift 2
  dflash-train --target "$target" --captures "$from" --output "$into" $tiny \
    "$@" > out 2> err &
  pid=$!
}

for signal in TERM INT; do
  test $signal = TERM && status=143 || status=130
  check () { hush part.dfs; trains_from $signal fifo
    await '"step":3' $signal/metrics.jsonl && kill -s $signal $pid &&
      ends $status; }
  ok "SIG$signal while the trainer waits for a pipe" check
  ok '  leaves a checkpoint' test -d $signal/checkpoints
  check () {
    last=`steps_of $signal | awk '{ print $NF }'`
    test -d $signal/checkpoints/step-$last && return
    echo "# $last:" `ls $signal/checkpoints`; return 1
  }
  ok '  of its last step' check
  ok '  and no drafter' lacks $signal/drafter
done
check () { hush all.dfs; trains_from whole fifo; ends 0 50; }
ok 'a whole stream ends, whoever keeps its pipe open' check
hushing=
check () { trains_from none fifo; sleep 0.5; kill $pid; ends 143; }
ok 'a named pipe that nobody opens' check
ok '  leaves nothing' lacks none
: > empty
check () { hush empty; trains_from none fifo; sleep 0.5; kill $pid; ends 143; }
ok 'a pipe without a byte' check
check () {
  hush part.dfs
  dflash-train --target "$target" --captures - --spool kept.dfs \
    --output none $tiny < fifo > out 2> err & pid=$!
  sleep 0.5; kill $pid; ends 143
}
ok 'a pipe that is being kept' check
check () {
  hush part.dfs
  DFLASH_FAULT=drafter=fail@2 dflash-train --target "$target" \
    --captures fifo --output failed $tiny > out 2> err & pid=$!
  await 'failure injected' err && ends 2
}
ok 'a failure behind a silent pipe ends the run' check
for how in '' --pass '--repair new.dfs'; do
  check () {
    hush part.dfs
    dflash-inspect $how fifo > out 2> err & pid=$!
    sleep 0.5; kill $pid; ends 143
  }
  ok "dflash-inspect $how" check
done
check () {
  hush all.dfs
  dflash-inspect - < fifo > out 2> err & pid=$!
  ends 0 50 && grep -q ' 0 findings' out
}
ok 'dflash-inspect of a whole stream' check
