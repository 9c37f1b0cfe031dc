-- Between which kernels does a device have no kernel for longest?
select device, start - latest as gap_ns, latest as from_ns, start as to_ns, name as next_kernel
from (select device, start, name,
             max(start + duration) over (partition by device order by start
                                         rows between unbounded preceding and 1 preceding) as latest
      from kernel) k
where start > latest
order by gap_ns desc
limit 20
