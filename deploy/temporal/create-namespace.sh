#!/bin/sh
# Makes the namespace where it is missing; reads TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE, as the temporal command does.
set -eu

until temporal operator cluster health; do sleep 2; done
temporal operator namespace describe "$TEMPORAL_NAMESPACE" ||
  temporal operator namespace create --retention 30d "$TEMPORAL_NAMESPACE"
