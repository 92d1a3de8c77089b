#!/bin/sh
# Brings Temporal's two databases to the schema of this image's version. Safe to repeat: what is
# there stays, what is missing is added. The connection comes from the SQL_* variables.
set -eu

for pair in temporal:temporal temporal_visibility:visibility; do
  database=${pair%%:*}
  folder=${pair##*:}
  temporal-sql-tool --db "$database" create
  temporal-sql-tool --db "$database" setup-schema -v 0.0
  temporal-sql-tool --db "$database" update-schema -d "/etc/temporal/schema/postgresql/v12/$folder/versioned"
done
