-- Why are the devices idle in the steady steps? (docs/gaps.md explains the causes.)
select cause, count(*) as gaps, sum(duration) as idle_ns, max(duration) as longest_ns
from gaps
group by cause
order by idle_ns desc
