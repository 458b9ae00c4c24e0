# dflash-inspect amid a pipe: what goes through, and how it ends.
. "$abs_top_srcdir/tests/init.sh"
make=$abs_top_builddir/tests/tool/make-capture
plan 31

"$make" clean.df last=1
"$make" bad.df last=1 nan@1.0.3-3 late-zero@4.3.0-1
dflash-inspect --pass - < clean.df > passed.df 2> err
ok 'a clean stream passes' test $? = 0
ok '  byte for byte' cmp clean.df passed.df
ok '  and what is said goes elsewhere' grep -q '^6 samples passed on$' err
dflash-inspect --pass - < bad.df > passed.df 2> err
ok 'of a damaged stream' test $? = 1
ok '  the good samples pass' run 0 dflash-inspect passed.df
ok '  and no others' grep -q '^4 samples, 4 good' out
"$make" clean.h5 last=1
dflash-inspect --pass clean.h5 > passed.df 2> err
ok 'HDF5 becomes a stream' cmp clean.df passed.df
dflash-inspect --pass --json - < bad.df 2> err > /dev/null
ok 'JSON goes to standard error' grep -q '"forwarded":4' err

# Streams that arrive in pieces.
for n in 1 7 4095; do
  if test $n = 1; then
    "$make" small.df samples=2 tokens=4 grow=0 hidden=16 layers=1
  else cp clean.df small.df; fi
  dd bs=$n if=small.df 2> /dev/null | dflash-inspect --pass - 2> err | cmp - small.df
  ok "$n bytes at a time" test $? = 0
done

# Streams that end early: a finding, and no end record for who reads on.
size=`wc -c < clean.df`
for cut in 1 8 16 17 1000 60000 `expr $size / 2`; do
  head -c `expr $size - $cut` clean.df | dflash-inspect --pass - > cut.df 2> err
  status=$?
  ok "$cut bytes are missing" \
    test $status = 1 -a "`grep -c 'truncated after sample' err`" = 1
done
ok 'nor does what passes look whole' run 1 dflash-inspect cut.df
ok 'no stream at all is trouble' run 2 dflash-inspect - < /dev/null

# A sample that can't be read, be it the last, doesn't break the stream.
for i in 2 5; do
  LC_ALL=C sed "s/{\"index\":\"$i\"/?\"index\":\"$i\"/" clean.df > spoilt.df
  dflash-inspect --pass - < spoilt.df > passed.df 2> err
  ok "sample $i can't be read" test $? = 1
  ok '  the others pass, and the end' run 0 dflash-inspect passed.df
  ok '    all of them' grep -q '^5 samples, 5 good' out
done

# A reader that leaves.
"$make" large.df samples=12 tokens=400 hidden=128
{ dflash-inspect --pass large.df 2> err; echo $? > status; } | head -c 1000 > /dev/null
ok 'a reader that leaves is trouble' test "`cat status`" = 2
ok '  and said' grep -q 'reader is gone' err
{ dflash-inspect --stats large.df 2> err; } | head -n 1 > /dev/null
ok 'who reads the report may stop' test ! -s err

# What the system says when a mapped file was cut off.
mkfifo fifo
dflash-inspect - < fifo > out 2> err &
exec 3> fifo
head -c 5000 clean.df >&3
sleep 1
kill -BUS $!
wait $!
ok 'a file that is cut off meanwhile is trouble' test $? = 2
ok '  and said' grep -qx 'dflash-inspect: a file was cut off .*' err
exec 3>&-
