-- What does analyze find, and where in the program?
select finding, cost as ns_per_step, share, confidence, file, line, says
from findings
where acquitted = 0
order by cost desc
