#!/bin/sh
# Brings Temporal's two databases to this release's schema. Safe to run again; reads SQL_PLUGIN, SQL_HOST, SQL_PORT,
# SQL_USER and SQL_PASSWORD, as temporal-sql-tool does.
set -eu

migrate() {
  temporal-sql-tool --db "$1" create
  temporal-sql-tool --db "$1" setup-schema -v 0.0
  temporal-sql-tool --db "$1" update-schema -d "/etc/temporal/schema/postgresql/v12/$2/versioned"
}

migrate temporal temporal
migrate temporal_visibility visibility
