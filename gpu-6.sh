S=$PWD; t0=$SECONDS
export GPU_KIT_CONFIGURE="--with-cuda-arch=90 --enable-werror"
. .gpu-kit/build >/tmp/build.log 2>&1 ; tail -1 /tmp/build.log; echo "build $((SECONDS-t0)) s"
export DFLASH_SHARED=/tmp/shared abs_top_srcdir=$(cd ..; pwd) abs_top_builddir=$PWD
F="--target random:../share/shapes/qwen3-8b.json --token-budget 8192 --max-length 2048 --devices cuda:0"
go () { local l=$1 n=$2 s=$SECONDS; shift 2; timeout $l "$@" > $OUT/$n.txt 2> $OUT/$n.err; echo "== $n rc $? $((SECONDS-s)) s"; tail -3 $OUT/$n.err; }
go 60 check ./dflash-bench --devices cuda:0 --check forward step pipeline capture sweep pack postprocess
grep -E 'WRONG|skipped' $OUT/check.txt | head -20
go 40 pack ./dflash-bench pack --devices cuda:0 --repeat 10
grep -v '^#' $OUT/pack.txt | cut -c1-150 | grep -E '8192x5x4096|case' ; grep '^#' $OUT/pack.txt
go 60 copy ./dflash-bench copy --devices cuda:0 --repeat 5 --only '(d2h|h2d|both)/pinned/(16MiB|64MiB|256MiB|1GiB)|d2d.*1GiB' --plot $OUT/copy.svg
cut -c1-170 $OUT/copy.txt | grep -v '^#'
go 110 step ./dflash-bench $F forward step --repeat 7 --plot $OUT/step.svg
cut -c1-170 $OUT/step.txt
A="pack --devices cuda:0 --only 8192x5x4096/packed"
go 20 save ./dflash-bench $A --save-baseline b.json
for i in 1 2 3 4 5; do go 15 base$i ./dflash-bench $A --baseline b.json; done
make -s tests/tool/bench-slower > /dev/null 2>&1; SLOWER_PERCENT=10 go 20 slower tests/tool/bench-slower $A --baseline b.json; grep SLOWER $OUT/slower.txt | head -3
rm -f $OUT/base[1-5].* $OUT/save.* ; tar czf $OUT/all.tgz -C $OUT . 2>/dev/null; cd $OUT; ls | grep -vE 'all.tgz|svg' | xargs rm -f
