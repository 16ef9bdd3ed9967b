# The inside of the session: reads how many lines follow, then those lines; evaluates them in this very shell; answers with one line of marker,
# status and size, then the output. $1 is the marker, $2 how many bytes of output are answered at most.
# The output's file is named by the marker, which nobody else knows: two sessions may share a /tmp.
sbx_out=${TMPDIR:-/tmp}/sbx-repl-$1
while IFS= read -r sbx_lines; do
    sbx_code=
    while [ "$sbx_lines" -gt 0 ] && IFS= read -r sbx_line; do
        sbx_code="$sbx_code$sbx_line
"
        sbx_lines=$((sbx_lines - 1))
    done
    # A syntax error would end some shells, and with it everything the session knows.
    if printf '%s' "$sbx_code" | /bin/sh -n >"$sbx_out" 2>&1; then
        eval "$sbx_code" >"$sbx_out" 2>&1 </dev/null
        sbx_status=$?
    else
        sbx_status=2
    fi
    sbx_size=$(wc -c <"$sbx_out")
    printf '%s %d %d\n' "$1" "$sbx_status" "$sbx_size"
    if [ "$sbx_size" -gt "$2" ]; then
        head -c "$2" "$sbx_out"
    else
        head -c "$sbx_size" "$sbx_out"
    fi
done
rm -f "$sbx_out"
