-- Prints wrk's figures as one line of JSON.
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '{"perSecond":%f,"p50Ms":%f,"p99Ms":%f,"failed":%d}\n',
    summary.requests / (summary.duration / 1e6),
    latency:percentile(50) / 1e3,
    latency:percentile(99) / 1e3,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout
  ))
end
