#!/bin/sh
# Runs once, when the data folder of PostgreSQL is made: a role for Docket with its database, and one
# for Temporal, which makes its own two (temporal-schema.sh). Neither can read the other's.
set -eu

psql --username postgres --dbname postgres --set ON_ERROR_STOP=1 \
  --set docket="$DOCKET_DB_PASSWORD" --set temporal="$TEMPORAL_DB_PASSWORD" <<'SQL'
create role docket login password :'docket';
create role temporal login createdb password :'temporal';
create database docket owner docket encoding 'UTF8' locale 'C' template template0;
revoke connect on database docket from public;
SQL
