# What the scripts beside this one share. Where there is a certificate, TLS is spoken by all and to all.
set -eu
peers="redis-0.redis redis-1.redis redis-2.redis"
tls=/run/secrets/redis-mtls
if [ -e "$tls/tls.crt" ]; then
    # Asked without a certificate, it does not answer.
    with_tls="--tls --cacert $tls/ca.crt --cert $tls/tls.crt --key $tls/tls.key"
else
    with_tls=
fi

# Asks as the user that anyone may be.
ask() {
    # shellcheck disable=SC2086
    timeout 5 redis-cli --no-auth-warning --user probe --pass probe $with_tls "$@"
}

# Settings that say where to listen: only where the others find it.
listening_at() {
    echo "bind $POD_IP"
    if [ -n "$with_tls" ]; then
        cat <<CONF
port 0
tls-port $1
tls-cert-file $tls/tls.crt
tls-key-file $tls/tls.key
tls-ca-cert-file $tls/ca.crt
tls-replication yes
CONF
    else
        echo "port $1"
    fi
}
