# Compile and run a program against the installed tree, as a user would.
# usage: run.sh SOURCE LIBDIR; PKG_CONFIG_PATH leads to dflash.pc.
set -eu
source=$1 libdir=$2
if ! command -v pkg-config >/dev/null; then
  echo "installcheck: skipped, there is no pkg-config"; exit 0
fi
tmp=$(mktemp -d "${TMPDIR:-/tmp}/dflash.XXXXXX")
trap 'rm -rf "$tmp"' 0
${CC:-cc} $(pkg-config --cflags dflash) ${CFLAGS-} -o "$tmp/uses" "$source" \
  $(pkg-config --libs dflash)
got=$(LD_LIBRARY_PATH=$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
        "$tmp/uses")
want="a file is not what its name or header says: record 7"
if [ "$got" != "$want" ]; then
  echo "installcheck: wanted '$want', seen '$got'" >&2; exit 1
fi
echo "installcheck: dflash $(pkg-config --modversion dflash) can be used"
