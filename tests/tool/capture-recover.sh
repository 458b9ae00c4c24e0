# A capture that is stopped, killed or runs out of room: what was committed is
# whole, and --resume adds what is missing, each sample once.
. "$abs_top_srcdir/tests/tool/train.sh"
. "$abs_top_srcdir/tests/tool/capture.sh"
plan 54
conversations 1 60 > data.jsonl

ok 'an unbroken capture' captures 0 whole.h5
ok 'a run from it' offline 0 wanted whole.h5
same_as_whole () { # FILE
  offline 0 o "$1" --overwrite && alike wanted o
}
ok 'resumed, it has nothing to do' captures 0 whole.h5 --resume
ok '  and says so' says 'whole.h5: all 60 samples are there: nothing to do$'
ok 'a file that is there is refused' captures 2 whole.h5
ok '  by name' says '^dflash-capture: whole.h5 exists: resume it or replace'
check () { captures 0 new.h5 --resume && same_as_whole new.h5; }
ok '--resume without a file begins' check

# slow FILE OPTION...: in the background, a sample in 5 to 20 ms.
slow () {
  into=$1; shift
  DFLASH_FAULT=write=stall:40 dflash-capture --target "$target" \
    --data data.jsonl --output "$into" $small "$@" > out 2> err &
  pid=$!
}
# Killed twenty times, at moments that nobody chose.
for format in h5 folder/; do
  n=0
  check () {
    while test $n -lt 20; do
      n=`expr $n + 1`
      slow "killed.$format" --resume --flush-every 2
      sleep 0.`awk -v n=$n -v s=$$ \
        'BEGIN { srand(s + n); printf "%03d", 150 + 450 * rand() }'`
      kill -s KILL $pid 2> /dev/null
      wait $pid 2> /dev/null; got=$?
      case $got in
        0 | 137) ;;
        *) echo "# exit status $got"; sed 's/^/# /' err; return 1 ;;
      esac
    done
  }
  ok "killed 20 times and resumed: killed.$format" check 2> /dev/null
  ok '  resumed once more' captures 0 "killed.$format" --resume
  ok '  it has all samples, each once' captures 0 "killed.$format" --resume
  ok '    as it says' says 'all 60 samples are there: nothing to do$'
  ok '  and is as an unbroken one' same_as_whole "killed.$format"
done

# Killed before anything was committed.
for format in h5 folder/; do
  check () {
    slow "early.$format"
    for tick in `seq 200`; do
      test -e "early.$format" && break
      sleep 0.01
    done
    kill -s KILL $pid; wait $pid
    captures 0 "early.$format" --resume && same_as_whole "early.$format"
  }
  ok "killed at the start and resumed: early.$format" check 2> /dev/null
done

# Signals.
stop () { # SIGNAL STATUS FILE OPTION...
  signal=$1 want=$2; shift 2
  slow "$@"
  for tick in `seq 100`; do
    test -s "$1" && break
    sleep 0.05
  done
  sleep 0.3
  kill -s $signal $pid; wait $pid; got=$?
  test $got = $want && return
  echo "# exit status $got, wanted $want"; sed 's/^/# /' err; return 1
}
ok 'SIGTERM' stop TERM 143 term.h5
ok '  is acknowledged' says 'finishing the batch; a second signal ends at once'
ok '  and how to go on' grep -q '^stopped; go on with --resume$' out
ok '  what was written is whole' offline 0 o term.h5 --overwrite
ok '  resumed' captures 0 term.h5 --resume
ok '    with what was missing' says 'term.h5: [0-9]* samples are there, [0-9]'
ok '    it is as an unbroken one' same_as_whole term.h5
ok 'SIGINT' stop INT 130 int.dfs
ok '  a stream then has no end' offline 2 o int.dfs --strict --overwrite
ok '    as is said' says 'int.dfs: truncated after sample'
ok '  without --strict what came counts' offline 0 o int.dfs --overwrite
ok 'a stream is not resumed' captures 2 int.dfs --resume
ok '  by name' says '^dflash-capture: --resume: a stream can.t be resumed$'

# Another writer.
check () {
  slow two.h5; first=$pid
  for tick in `seq 100`; do
    test -s two.h5 && break
    sleep 0.05
  done
  captures 2 two.h5 --resume; second=$?
  cp err err.second
  wait $first && test $second = 0
}
ok 'a second writer is refused' check
ok '  by name' grep -q 'two.h5: .*another process' err.second
ok '  and the first one is not disturbed' same_as_whole two.h5

# What a resumed capture must share.
while IFS='|' read -r message options; do
  cksum term.h5 > before
  check () {
    captures 2 term.h5 --resume $options && says "$message" &&
      cksum term.h5 > after && cmp before after
  }
  ok "resumed with $options, it is refused" check
done <<'END_OF'
term.h5: captured with another max_length|--max-length 20
term.h5: captured with another train_on|--train-on last
term.h5.*layout|--layout packed
term.h5.*layer_ids|--target-layer-ids 1,2
term.h5.*last_hidden|--last-hidden
END_OF
conversations 2 61 > data.jsonl
ok 'other data is refused' captures 2 term.h5 --resume
ok '  by name' says 'term.h5: sample [0-9]* of [0-9]* tokens is not in the dat'
conversations 1 62 > data.jsonl
ok 'data with more at its end is not' captures 0 term.h5 --resume
ok '  only that is captured' says 'term.h5: 60 samples are there, 2 are left'
conversations 1 60 > data.jsonl

# Readers that go away.
gone () {
  { dflash-capture --target "$target" --data data.jsonl -o - $small 2> err
    echo $? > status; } | head -c 1000 > out
  test "`cat status`" = 2
}
ok 'a reader that goes away' gone
ok '  is named' says '^dflash-capture: standard output: its reader is gone$'
check () {
  dflash-capture --target "$target" --data data.jsonl -o - $small \
    2> err > /dev/full
  test $? = 2 && says '^dflash-capture: standard output: No space left'
}
ok 'standard output that is full' check

# No room.
limited () { ( trap '' XFSZ; ulimit -f 1000; "$@" ) }
check () {
  limited captures 2 small.h5 --flush-every 2 --last-hidden --force &&
    says '^dflash-capture: small.h5: .*File too large'
}
ok 'a file that may not grow' check
check () {
  captures 0 small.h5 --last-hidden --resume && same_as_whole small.h5
}
ok '  what was written is whole, and more can be added' check
mkdir small
if mount -t tmpfs -o size=2m none small 2> /dev/null; then
  trap 'umount "$tmp/small"; rm -rf "$tmp"' 0
  many='--target-layer-ids 0,1,2,3,4 --last-hidden'
  ok 'a disk that is too small is refused' captures 2 small/a.h5 $many
  ok '  in numbers' says \
    '^dflash-capture: small/a.h5: [0-9]* bytes are needed, but only [0-9]* are'
  ok '  and nothing is written' lacks small/a.h5
  check () {
    captures 2 small/a.h5 $many --force --flush-every 1 &&
      says '^dflash-capture: small/a.h5: .*No space left' &&
      says '^[0-9]* bytes are needed in all, and [0-9]* are free$'
  }
  ok '  unless forced; then it fills up, and that is told' check
  check () {
    cp small/a.h5* . && captures 0 a.h5 $many --resume &&
      says 'a.h5: [1-9][0-9]* samples are there' &&
      captures 0 b.h5 $many && offline 0 oa a.h5 && offline 0 ob b.h5 &&
      alike oa ob
  }
  ok '  what was committed is whole, and more can be added elsewhere' check
else
  skip_rest 5 'no small file system can be mounted here'
fi
