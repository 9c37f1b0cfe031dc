-- When was most memory allocated by the calls that were recorded, and how much?
select pid, device, start as at_ns, held as held_bytes
from (select pid, device, start, held, row_number() over (partition by pid, device order by held desc, start) as place
      from (select pid, device, start,
                   sum(case when operation = 'allocate' then bytes else -bytes end)
                     over (partition by pid, device order by start, id
                           rows between unbounded preceding and current row) as held
            from memory) m) p
where place = 1
order by held_bytes desc
