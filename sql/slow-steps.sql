-- Which steps took longest, and how much of each was the device idle?
select name, number, steady, outlier, duration as step_ns, busy as busy_ns, duration - busy as idle_ns
from steps
order by duration desc
limit 20
