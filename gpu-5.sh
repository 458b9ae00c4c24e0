S=$PWD; t0=$SECONDS
export GPU_KIT_CONFIGURE="--with-cuda-arch=90 --enable-werror"
. .gpu-kit/build >/tmp/build.log 2>&1 ; tail -1 /tmp/build.log; echo "build $((SECONDS-t0)) s"
export DFLASH_SHARED=/tmp/shared abs_top_srcdir=$(cd ..; pwd) abs_top_builddir=$PWD
t1=$SECONDS
(timeout 200 make -s -k check -j12) > $OUT/check.log 2>&1; grep -E '^# |^(FAIL|ERROR)' $OUT/check.log | head -50
echo "check $((SECONDS-t1)) s"
for f in $(grep -lE '^:test-result: (FAIL|ERROR)' -r tests --include=*.trs | head -12); do l=${f%.trs}.log; cp $l $OUT/$(basename $l); echo "== $l"; grep -E '^not ok|^#' -A3 $l | grep -v ^PASS | head -12; done
t1=$SECONDS
for x in spec; do RUN_EXPENSIVE_TESTS=yes DFLASH_TEST_DEVICE=cuda:0 timeout 60 tests/golden/$x.t > /tmp/g.log 2>&1; echo "$x rc $? $(grep -c '^ok' /tmp/g.log)"; grep -A4 '^not ok' /tmp/g.log | head -12; grep '^#' /tmp/g.log | tail -5; done
echo "golden $((SECONDS-t1)) s"
t1=$SECONDS
T="--target /tmp/shared/models/tiny --data /tmp/shared/data/tiny-train.jsonl --eval-data /tmp/shared/data/tiny-heldout.jsonl --num-draft-layers 2 --target-layer-ids 1,2,3 --block-size 8 --num-anchors 64 --loss-decay-gamma 4 --max-batch-size 8 --token-budget 16384 --max-steps 1500 --learning-rate 6e-4 --warmup-ratio 0.04 --eval-interval 250 --eval-decode 24 --eval-decode-tokens 97 --eval-decode-interval 50 --target-devices cuda:0 --drafter-devices cuda:0"
for s in 1 2 3; do timeout 100 ./dflash-train $T --seed $s --output /tmp/c$s --log-interval 500 > /tmp/c$s.log 2>&1; echo "rc $?"; grep -E 'decod' /tmp/c$s.log | awk 'NR%1==0' | grep -E ' (50|100|250|500|1000|1500) ' ; tail -3 /tmp/c$s.log; grep -E 'evaluation after 1500' /tmp/c$s.log;  cp /tmp/c$s/metrics.jsonl $OUT/curve$s.jsonl; done
echo "curve $((SECONDS-t1)) s"
t1=$SECONDS
timeout 180 make -s check-compute-sanitizer > $OUT/san.log 2>&1; echo "san rc $? $((SECONDS-t1)) s"; grep -E 'SUMMARY|^# (TOTAL|PASS|FAIL)' $OUT/san.log; tail -3 $OUT/san.log
