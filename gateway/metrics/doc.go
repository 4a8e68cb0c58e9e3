// Package metrics counts what the other packages tell their observers, for
// Prometheus. [Metrics] is every observer at once: of links, sessions and rooms.
//
// No label names a user, a room or an address: the number of series is fixed when
// the process starts, whatever clients do. Counters of the hot path are looked up
// once, in New; an observation allocates nothing. What can be read when it is
// asked for (players per room, queues) is read by each scrape, from [Sources].
// docs/metrics.md tells of each metric.
package metrics
