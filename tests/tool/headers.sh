. "$abs_top_srcdir/tests/init.sh"
set -- `cd "$abs_top_srcdir/include" && ls dflash/*.h`
plan $#
for h; do
  echo "#include \"$h\"" > one.c
  ok "$h compiles alone" run 0 ${CC:-cc} -std=c11 -Wall -Wextra -Werror \
    -I"$abs_top_srcdir/include" -fsyntax-only one.c
done
