# A failure in any stage ends the run within seconds, with its own message
# and status 2, whether the queues are empty or full.
. "$abs_top_srcdir/tests/tool/train.sh"

# Faults, and the one that must be named.
cat > faults <<'END_OF'
prefetch=fail@0|prefetch: failure injected at number 0
target=fail@0|target: failure injected at number 0
postprocess=fail@0|postprocess: failure injected at number 0
drafter=fail@0|drafter: failure injected at number 0
log=fail@0|log: failure injected at number 0
save=fail@4|save: failure injected at number 4
prefetch=fail@20,drafter=stall:100|prefetch: failure injected at number 20
target=fail@8,drafter=stall@2:700|target: failure injected at number 8
postprocess=fail@8,drafter=stall@2:700|postprocess: failure injected at number 8
drafter=fail@5,log=stall:100|drafter: failure injected at number 5
drafter=fail@5,target=stall:80|drafter: failure injected at number 5
log=fail@3,drafter=stall:80|log: failure injected at number 3
log=fail@3,prefetch=stall:80|log: failure injected at number 3
save=fail@4,log=stall:80|save: failure injected at number 4
postprocess=fail@3,copy=stall:100|postprocess: failure injected at number 3
target=fail@6,copy=stall@2:700|target: failure injected at number 6
target=fail@3,drafter=fail@11|target: failure injected at number 3
END_OF
places='--target-devices cpu:0,cpu:1 --drafter-devices cpu:0,cpu:2'
n=`cat faults | wc -l`
plan `expr 2 '*' $n + 39`

run='--epochs 4 --save-interval 4 --eval-data few.jsonl'
head -n 3 data.jsonl > few.jsonl
fails () { # FAULTS MESSAGE OPTION...
  faults=$1 message=$2; shift 2
  start=`date +%s`
  trains_with "$faults" 2 o --overwrite $run "$@" &&
    test `expr \`date +%s\` - $start` -lt 15 &&
    test "`tail -n 1 err`" = "dflash-train: $message"
}
while IFS='|' read -r faults message; do
  ok "$faults" fails "$faults" "$message"
  ok '  also with two of each' fails "$faults" "$message" $places
done < faults

while read -r faults; do
  check () {
    trains_with "$faults" 2 none --max-steps 1 && lacks none && says \
      '^dflash-train: DFLASH_FAULT: .* is not POINT=fail@N, POINT=stall@N:MS, '
  }
  ok "DFLASH_FAULT=$faults is refused" check
done <<'END_OF'
target
target=
target=fail
target=fail@
target=fail@x
target=fail@1x
target=fail@-1
target=stall@1
target=stall
Target=fail@1
target=fail@1;log=fail@2
a=fail@1,b=fail@1,c=fail@1,d=fail@1,e=fail@1,f=fail@1,g=fail@1,h=fail@1,i
END_OF

# A saving that fails leaves the checkpoint before it as it was.
state () { find "$1/checkpoints" -type f | sort | xargs cksum; }
ok 'a run with checkpoints' trains 0 old $run
rm -r old/checkpoints/step-24 old/checkpoints/step-20 old/drafter
state old > before
intact () {
  state old > after; cmp before after && test "`ls old/checkpoints`" = \
    "`sed 's|.*/\(step-[0-9]*\)/.*|\1|' before | sort -u`" && lacks old/drafter
}
for place in 0 1 2 3 4; do
  ok "saving fails at place $place" \
    trains_with checkpoint=fail@$place 2 old $run --resume
  ok '  with its message' says "^dflash-train: checkpoint: failure injec.* $place"
  ok '  what was saved before is intact' intact
done

# Steps go on while a checkpoint is written, though the next one waits.
DFLASH_FAULT=checkpoint=stall@1:3000 dflash-train --target "$target" \
  --data data.jsonl --output slow $tiny $run > out 2> err &
pid=$!
for tick in `seq 500`; do
  grep -q '"step":7,' slow/metrics.jsonl 2> /dev/null && break
  sleep 0.02
done
ok 'steps go on while a checkpoint is written' \
  test -e slow/checkpoints/step-4.tmp
kill -9 $pid; wait $pid 2> /dev/null
# One that is being written when a stage fails gets done.
ok 'a failure while a checkpoint is written' \
  trains_with checkpoint=stall@1:1000,target=fail@13 2 broken $run
ok '  is the one that is told' \
  says '^dflash-train: target: failure injected at number 13$'
ok '  and the checkpoint is whole' sh -c '
  test -d broken/checkpoints/step-4 && ! ls broken/checkpoints | grep tmp'

# No room: a limit on the size of files, and a file system that is full.
limited () { ( trap '' XFSZ; ulimit -f 2000; "$@" ) }
ok 'a file that may not grow' limited trains 2 old $run --resume
ok '  is named' says \
  '^dflash-train: old/checkpoints/step-20.tmp/state.safetensors: File too l'
ok '  what was saved before is intact' intact
mkdir small
if mount -t tmpfs -o size=32m none small 2> /dev/null; then
  trap 'umount "$tmp/small"; rm -rf "$tmp"' 0
  cp -r old small/old
  # All but a MiB is taken.
  cat /dev/zero > small/filler 2> /dev/null
  truncate -s -1M small/filler
  ok 'a full disk' trains 2 small/old $run --resume
  ok '  is named' says \
    '^dflash-train: small/old/checkpoints/step-20.tmp/.*: No space left'
  mv old kept; mv small/old .
  ok '  what was saved before is intact' intact
else
  skip_rest 3 'no small file system can be mounted here'
fi
ok 'with room again, the run goes on' trains 0 old $run --resume
