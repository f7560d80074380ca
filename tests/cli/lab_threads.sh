# deja lab: what is counted follows from the seed alone, whatever the number of threads.
. "$SUPPORT/cli.sh"

# All that measure no time.
names=(hashes single memory temporal spatial spatiotemporal layered split cache spectral unknown-n)
for j in 1 4; do
    succeeds deja lab -q "${names[@]}" -n 2k --runs 2 -j "$j" --out "j$j"
done
for name in "${names[@]}"; do
    expect_same "j1/$name.csv" "j4/$name.csv"
done

succeeds deja lab -q single -n 2k --runs 2 --seed 2 --out other
! cmp -s j1/single.csv other/single.csv || fail "another seed gives the same figures"
