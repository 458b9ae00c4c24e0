# A baseline of the same machine gives no alarm, and what got slower does.
# How finely a machine can tell depends on what else it does: make check looks
# for four times the work, in what one thread does in a third of a
# millisecond; make check-expensive looks for 10 % more.
. "$abs_top_srcdir/tests/init.sh"
if test "${RUN_EXPENSIVE_TESTS-no}" = yes; then limit=5 percent=10
else limit=20 percent=300; fi
plan 11

set -- pack --only '64x3x256/packed/noise cpu' --repeat 100 --min-time 0
ok 'a baseline is saved' run 0 dflash-bench "$@" --save-baseline base.json
for i in 1 2 3 4 5; do
  ok "run $i: no false alarm" run 0 dflash-bench "$@" --limit $limit \
    --baseline base.json
done

# Where the baseline was taken while the machine was busier than now, the
# comparison is not to say "slower": three chances.
notice () {
  for i in 1 2 3; do
    SLOWER_PERCENT=$percent "$abs_top_builddir/tests/tool/bench-slower" "$@" \
      --limit $limit --baseline base.json > out 2> err
    got=$?; test $got = 0 || break
    dflash-bench "$@" --save-baseline base.json > /dev/null 2>&1
  done
  test $got = 1 && return
  sed 's/^/# /' out err; return 1
}
ok "$percent % more work is an alarm" notice "$@"
ok 'in the row' grep -q '^# pack .* SLOWER$' out
ok 'and in the sum' grep -q '^# 1 compared, 1 slower' out

cp base.json old.json
check () {
  (trap '' XFSZ; ulimit -f 0
   dflash-bench "$@" --save-baseline base.json > /dev/null 2>&1)
  test $? = 2 && cmp base.json old.json && test ! -e base.json.new
}
ok 'where it can not be written, the old one stays' check "$@"
ok 'a device is written to' run 0 dflash-bench "$@" --save-baseline /dev/null
