# The target's own answers, and the drafter tried out by decoding: a drafter
# that has learnt one answer by heart drafts whole blocks of it.
. "$abs_top_srcdir/tests/tool/train.sh"
plan 51

cat > p.jsonl <<'END'
{"prompt": "Tom has 4 apples and buys 5 more. How many has he?"}
{"question": "What is 3 times 4?", "answer": "12"}
{"question_id": 1, "turns": ["How many legs has a dog?", "And a cat?"]}
{"messages": [{"role": "user", "content": "Say yes."}]}
END
# generate OUTPUT OPTION...; with exec=exec in place of the shell.
exec=
generate () {
  into=$1; shift
  $exec dflash-capture --target "$target" --data p.jsonl --generate \
    --max-new-tokens 24 --max-length 96 --output "$into" \
    --num-draft-layers 2 "$@"
}
# ids FILE: the tokens of each record, a line each.
ids () { sed 's/.*"input_ids":\[\([^]]*\)\].*/\1/' "$1"; }

ok 'answers to prompts of four shapes' run 0 generate a.jsonl
ok 'a record each, in order' \
  test "`sed 's/.*"id":\([0-9]*\).*/\1/' a.jsonl | tr '\n' ' '`" \
  = '0 65536 131072 196608 '
ok 'no file is left over' lacks a.jsonl.tmp
ok 'one at a time' run 0 generate one.jsonl --concurrency 1
ok 'gives the same' cmp a.jsonl one.jsonl
ok 'drawn at a temperature' run 0 generate t.jsonl --temperature 2
ok 'and again with the same seed' run 0 generate u.jsonl --temperature 2 \
  --concurrency 3
ok 'they are the same' cmp t.jsonl u.jsonl
ok 'and not the likeliest' test "`ids a.jsonl`" != "`ids t.jsonl`"
run 0 generate a.jsonl --overwrite --shard 2/2
ok 'a shard of the prompts' test `wc -l < a.jsonl` = 2
ok 'captured at once' run 0 generate a.h5 --answers b.jsonl
ok 'as a capture of the answers is' run 0 dflash-capture \
  --target "$target" --data b.jsonl --output b.h5 --max-length 96 \
  --num-draft-layers 2
ok 'to the bit' run 0 dflash-inspect --compare b.h5 a.h5
ok 'an old file stays' run 2 generate b.jsonl
ok 'and is named' says 'b.jsonl: exists'
ok '--answers without --generate' run 2 dflash-capture --target "$target" \
  --data p.jsonl --output c.h5 --answers c.jsonl

# A run that is cut off is gone on with.  Each of these prompts is another.
cp p.jsonl four.jsonl
awk 'BEGIN { for (i = 0; i < 150; i++)
  printf "{\"prompt\": \"What is %d and %d?\"}\n", i, i * 7 % 31 }' > p.jsonl
drawn='--temperature 1 --concurrency 2'
ok 'many prompts' run 0 generate many.jsonl $drawn
# cut SIGNAL FILE OPTION...: the run is sent SIGNAL behind a few answers.
cut () {
  signal=$1; kept=$2; shift 2
  { exec=exec; generate "$@" $drawn; } > out 2> err &
  pid=$!
  for tick in `seq 500`; do
    test "`wc -l < $kept.tmp 2> /dev/null || echo 0`" -ge 3 && break
    sleep 0.01
  done
  kill -s $signal $pid; wait $pid; got=$?
  lacks $kept && test -s $kept.tmp && test "`wc -l < $kept.tmp`" -lt 150
}
ok 'SIGTERM behind a few' cut TERM c.jsonl c.jsonl
ok 'says so by its status' test $got = 143
ok 'and how to go on' says \
  '^dflash-capture: c.jsonl.tmp: [0-9]* answers: go on with --resume$'
cp c.jsonl.tmp saved
ok 'they are not replaced unasked' run 2 generate c.jsonl $drawn
ok 'which is said' says \
  '^dflash-capture: c.jsonl.tmp: exists: go on with it by --resume, or repl'
ok 'nor gone on with at another temperature' run 2 generate c.jsonl --resume
ok 'which is said, too' says 'c.jsonl.tmp: written with another temperature'
sed 1d p.jsonl > q.jsonl
ok 'nor with other data' run 2 dflash-capture --target "$target" \
  --data q.jsonl --generate --max-new-tokens 24 --max-length 96 $drawn \
  --num-draft-layers 2 --output c.jsonl --resume
ok 'of which the line is named' says \
  '^dflash-capture: c.jsonl.tmp:1: the answer to another prompt'
ok 'and they stay as they are' cmp c.jsonl.tmp saved
printf '{"id":9,"answ' >> c.jsonl.tmp
ok 'with half a line at the end, it goes on' \
  run 0 generate c.jsonl $drawn --resume
ok 'to what the unbroken run says' cmp many.jsonl c.jsonl
ok 'and leaves nothing else' test "`ls c.jsonl*`" = c.jsonl
ok 'all is there' run 0 generate c.jsonl $drawn --resume
ok 'and that is said' says 'c.jsonl: 150 answers are there, 0 are left'
ok 'kill -9, and answers that are captured' cut KILL d.jsonl d.h5 \
  --answers d.jsonl
ok 'goes on, too' run 0 generate d.h5 --answers d.jsonl $drawn --resume
ok 'to the same answers' cmp many.jsonl d.jsonl
ok 'which are captured' run 0 dflash-inspect d.h5
ok 'answers that went with the run' run 2 generate e.h5 --resume
ok 'are not there' says '^dflash-capture: --resume: answers that were to be'
mv four.jsonl p.jsonl

# What is learnt has more tokens than what is drafted, so that no block runs
# past what the drafter knows.
head -1 p.jsonl > p1 && mv p1 p.jsonl
generate data.jsonl --overwrite --max-new-tokens 40 2> err
learn='--eval-data data.jsonl --eval-decode 1 --target-layer-ids 1,3
--num-anchors 64 --max-length 96 --max-batch-size 1 --learning-rate 3e-3
--eval-decode-tokens 30'
learn="$learn --max-steps 60 --eval-decode-interval 30"
ok 'overfitting one conversation' trains 0 run $learn --save-interval 30
cp out kept
ok 'the accept length reaches the block size' grep -q \
  '"step":60,"decoded_accept_length":4\.0,' run/metrics.jsonl
ok 'a line a trial' test \
  `grep -c decoded_accept_length run/metrics.jsonl` = 2
ok 'it is told' says 'decoding after 60 steps: accept length 4.000'
ok 'the best drafter is kept' grep -q '"accept_length": 4' \
  run/best/accept.json
ok 'as a drafter' cmp run/best/config.json run/drafter/config.json
ok 'nothing is allocated after the warm-up' grep -q \
  '^allocations after warm-up: 0$' kept
# What the clock doesn't say.
lines () { metrics $1 | sed 's/,"decoding_seconds":[^,}]*//'; }
lines run > wanted
best=best/model.safetensors
check () { lines $1 > got; diff wanted got && cmp run/$best $1/$best; }
cp -r run killed; rm -r killed/checkpoints/step-60 killed/best killed/drafter
sed '/"step":30,"epoch"/q' run/metrics.jsonl > killed/metrics.jsonl
ok 'resumed behind a kill between saving and decoding' \
  trains 0 killed $learn --resume
ok '  it is the unbroken run' check killed
ok 'resumed when all is done' trains 0 killed $learn --resume
ok '  it decodes again' check killed
# The device's memory, with answers and without them.
bytes () {
  trains 0 bytes --overwrite --max-steps 1 --stats=s.json --token-budget 1024 \
    --eval-data data.jsonl --eval-decode-tokens 8 "$@" &&
    sed -n 's/.*"device_bytes": \([0-9]*\).*/\1/p' s.json
}
check () {
  short=`expr \`bytes --max-length 96 --eval-decode 1\` - \
    \`bytes --max-length 96\``
  long=`expr \`bytes --max-length 1024 --eval-decode 1\` - \
    \`bytes --max-length 1024\``
  echo "# $short $long"
  test $short = $long
}
ok 'what decoding needs depends on the prompts, not on --max-length' check
ok '--eval-decode needs prompts' trains 2 other --eval-decode 1
