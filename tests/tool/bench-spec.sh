# Speculative decoding measured: what its rows say, the prompts it takes, and
# that answers are compared.
. "$abs_top_srcdir/tests/init.sh"
plan 35

demo=$abs_top_srcdir/share/demo
# has KEY...: the line of JSON in file line has each of them.
has () { for key; do grep -q "\"$key\":" line || return 1; done; }
# says TEXT: on standard error.
says () { grep -qF -e "$1" err; }
# spec STATUS OPTION...: the suite with few samples.
spec () { want=$1; shift; run $want dflash-bench spec --repeat 3 "$@"; }

ok 'two at a time' spec 0 --concurrency 2 --json
grep /drafted out > line
ok 'what drafting is worth' has decoded_tokens/s overall_tokens/s accept \
  speedup
ok 'what a round is made of' has draft_us verify_us draft_share verify/step \
  draft/step
ok 'accept lengths, and slots' grep -qE \
  '"accept_lengths":\[([0-9.e-]+,){7}[0-9.e-]+\],"slot_accept":\[([0-9.e-]+,){6}[0-9.e-]+\]' line
ok 'samples are rounds: 3 to 6' grep -qE \
  '"samples_s":\[([0-9.e-]+,){2,5}[0-9.e-]+\]' line
ok 'nothing was compared' grep -q '"result":"-"' line
ok 'drafting alone' spec 0 --only /drafted --json
mv out line
ok 'is compared with no step' sh -c '! grep -q /step line'

ok 'the answers are the same' spec 0 --check-lossless --max-new-tokens 40
ok 'and compared' grep -q '/drafted .* 0.0e+00 right' out
ok 'accept lengths as remarks' test \
  `grep -cE '^# +(accept_lengths|slot_accept): [01]' out` = 2
ok 'at a temperature' spec 0 --check --temperature 0.8 --concurrency 1,3
ok 'all is the same again' test `grep -c '/t0.8/.* right$' out` = 4

ok 'forced accept lengths' spec 0 --force-accept 1,4,8 --json
for n in 1 4 8; do
  grep "forced$n\"" out > line
  ok "$n tokens a round" grep -q "\"accept\":$n\\.0,.*\"accept_lengths\":" line
done
ok 'as --check sees too' spec 0 --check --force-accept 2
ok 'it is right' grep -q 'forced2 .* right' out

# A drafter of the demo's target, and prompts in all shapes.
ok 'a drafter' run 0 dflash-train --target "$demo/target" --output run \
  --data "$demo/train.jsonl" --max-steps 2 --num-draft-layers 2 \
  --target-layer-ids 1,3 --block-size 4 --max-length 128 --num-anchors 4 \
  --max-batch-size 1
cat > p.jsonl <<'END'
{"prompt": "Tom has 4 apples and buys 5 more. How many has he?"}
{"question": "What is 3 times 4?", "answer": "12"}
{"question_id": 1, "turns": ["How many legs has a dog?", "And a cat?"]}
{"messages": [{"role": "user", "content": "Say yes."}]}
{"input_ids": [5, 6, 7], "loss_mask": [0, 0, 0]}
END
given="-t $demo/target --drafter run/drafter --prompts p.jsonl
--max-new-tokens 12 --max-length 96"
ok 'drafts answers to prompts of all shapes' spec 0 $given --check-lossless \
  --concurrency 3
ok 'losslessly' grep -q '3x12/drafted .* 0.0e+00 right' out
ok 'five of them' says 'p.jsonl: 5 records, 5 samples used'
ok 'its block has 4 slots' grep -qE '^# +accept_lengths:( [0-9.]+){4}$' out
ok 'other suites have its shapes' run 0 dflash-bench step --check \
  -t "$demo/target" --drafter run/drafter --max-length 32 --token-budget 32 \
  --num-anchors 2

ok 'texts for a target without a tokenizer' spec 0 --check --prompts p.jsonl
ok 'are a reason to skip all cases' test \
  `grep -c ' skipped p.jsonl:1: .* no tokenizer' out` = 2
ok 'a block size besides' spec 2 $given --block-size 8
ok 'is refused' says "--block-size: the drafter of --drafter has its own"
ok 'a drafter without its target' spec 2 --drafter run/drafter
ok 'is refused' says '--drafter needs --target'
ok 'to compare what is drawn' spec 2 --check-lossless --temperature 1
ok 'is refused' says '--check-lossless needs temperature 0'
ok 'more than a block' spec 2 --force-accept 9
ok 'is refused' says 'a block has 8 slots'
