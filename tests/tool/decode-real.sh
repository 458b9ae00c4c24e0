# A drafter for a real model, trained on what the model wrote itself: it
# drafts more than two tokens a round.
. "$abs_top_srcdir/tests/init.sh"
expensive_
target=$DFLASH_SHARED/models/stories260K-hf
test -d "$target" || skip_all 'no models/stories260K-hf in the shared folder'
plan 4

# Stories begin with BOS.
yes '{"input_ids": [1], "loss_mask": [0]}' | head -400 > p.jsonl
generate () {
  into=$1; shift
  dflash-capture --target "$target" --generate --temperature 0.6 \
    --max-length 128 --max-new-tokens 120 --concurrency 64 \
    --output "$into" "$@"
}
ok 'stories' run 0 generate a.jsonl --data p.jsonl
ok 'some more, to try the drafter on' run 0 generate b.jsonl --data p.jsonl \
  --seed 7 --max-samples 20
# What they begin with is a prompt: 8 tokens.
sed 's/"loss_mask":\[0\(,1\)\{7\}/"loss_mask":[0,0,0,0,0,0,0,0/' b.jsonl \
  > eval.jsonl
ok 'a drafter' run 0 dflash-train --target "$target" --data a.jsonl \
  --eval-data eval.jsonl --eval-decode 20 --eval-decode-tokens 64 \
  --num-draft-layers 2 --target-layer-ids 1,2,3 --block-size 8 \
  --mask-token-id 0 --max-length 128 --max-steps 600 --token-budget 1024 \
  --num-anchors 64 --learning-rate 4e-3 --output run
length=`sed -n 's/.*"accept_length": *\([0-9.]*\).*/\1/p' run/best/accept.json`
echo "# accept length $length"
ok 'accept length above 2' \
  awk -v x="$length" 'BEGIN { exit !(x > 2) }'
