#!/bin/sh
# Makes Docket's namespace unless it is there. The retention is how long closed workflows stay to be looked at.
set -eu

until temporal operator cluster health; do sleep 2; done
temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
  temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$TEMPORAL_RETENTION"
