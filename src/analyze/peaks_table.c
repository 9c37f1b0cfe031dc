/* SPDX-License-Identifier: Apache-2.0 */
/* peaks_table.c - see peaks_table.h. One row a device, from the document named in its row.
 *
 * Data sheets of NVIDIA's newer devices state tensor rates with structured sparsity: half of them stand here. GeForce
 * cards compute half precision with sums in fp32 at half the rate of their professional siblings; that is the rate here,
 * because frameworks sum in fp32. AMD's MI200 shows each of its two dies as a device: the rows are for one die. fp64 on
 * tensor cores is 0 where the data sheet has no line for it.
 *
 * Where documents disagree: B200 has 8 TB/s in its data sheet, boards with 180 GB 7.7; B300 fp4 is between 13.1 and 14
 * PFLOP/s; GB200 fp64 was 45 TFLOP/s at first; H100 PCIe has 2 TB/s in the data sheet, 2.04 by its memory's clock. The
 * published rates of MI350X and MI355X are 256 units × 4096 (fp16) or 8192 (fp8) FLOP × 2.2 or 2.4 GHz, as here.
 */
#include "analyze/peaks_table.h"

#define V100_PAPER "NVIDIA Tesla V100 data sheet"
#define A100_PAPER "NVIDIA A100 data sheet; GA100 white paper for units that it omits"
#define GA102_PAPER "NVIDIA Ampere GA102 white paper"
#define ADA_PAPER "NVIDIA Ada white paper"
#define H100_PAPER "NVIDIA H100 data sheet; Hopper white paper for units that it omits"
#define BLACKWELL_PAPER "NVIDIA Blackwell data sheet (HGX, GB200)"
#define RTX50_PAPER "NVIDIA RTX Blackwell white paper"
#define CDNA_PAPER "AMD Instinct data sheet"

/* clang-format off: a table is read by its columns. */
const struct peaks_row peaks_rows[] = {
	/*	 word       also    model              SMs  fp64  fp32  half  t64  t32  tf32   half  fp8  fp4  int8  GB/s */
	{"V100S", NULL, "V100S PCIe", 80, 8.2, 16.4, 32.8, 0, 0, 0, 130, 0, 0, 0, 1134, V100_PAPER},
	{"V100", "PCIE", "V100 PCIe", 80, 7.0, 14.0, 28.0, 0, 0, 0, 112, 0, 0, 0, 900, V100_PAPER},
	{"V100", NULL, "V100 SXM2", 80, 7.8, 15.7, 31.4, 0, 0, 0, 125, 0, 0, 0, 900, V100_PAPER},
	{"T4", NULL, "T4", 40, 0.25, 8.1, 16.2, 0, 0, 0, 65, 0, 0, 130, 320,
	 "NVIDIA T4 data sheet"},

	{"A100 80GB PCIe", NULL, "A100 80GB PCIe", 108, 9.7, 19.5, 78, 19.5, 0, 156, 312, 0, 0, 624,
	 1935, A100_PAPER},
	{"A100", "80GB", "A100 80GB SXM", 108, 9.7, 19.5, 78, 19.5, 0, 156, 312, 0, 0, 624, 2039,
	 A100_PAPER},
	{"A100", NULL, "A100 40GB", 108, 9.7, 19.5, 78, 19.5, 0, 156, 312, 0, 0, 624, 1555,
	 A100_PAPER},
	{"A800", NULL, "A800 80GB", 108, 9.7, 19.5, 78, 19.5, 0, 156, 312, 0, 0, 624, 2039,
	 A100_PAPER},
	{"A30", NULL, "A30", 56, 5.2, 10.3, 41.2, 10.3, 0, 82, 165, 0, 0, 330, 933,
	 "NVIDIA A30 data sheet"},
	{"A10", NULL, "A10", 72, 0.49, 31.2, 31.2, 0, 0, 62.5, 125, 0, 0, 250, 600,
	 "NVIDIA A10 data sheet"},
	{"A10G", NULL, "A10G", 80, 0.55, 35, 35, 0, 0, 35, 70, 0, 0, 140, 600,
	 "NVIDIA A10G data sheet"},
	{"A40", NULL, "A40", 84, 0.58, 37.4, 37.4, 0, 0, 74.8, 149.7, 0, 0, 299.3, 696,
	 "NVIDIA A40 data sheet"},
	{"RTX A6000", NULL, "RTX A6000", 84, 0.6, 38.7, 38.7, 0, 0, 77.4, 154.8, 0, 0, 309.7, 768,
	 GA102_PAPER},
	{"RTX 3090 Ti", NULL, "RTX 3090 Ti", 84, 0.62, 40, 40, 0, 0, 40, 80, 0, 0, 320, 1008,
	 GA102_PAPER},
	{"RTX 3090", NULL, "RTX 3090", 82, 0.56, 35.6, 35.6, 0, 0, 35.6, 71, 0, 0, 284, 936,
	 GA102_PAPER},
	{"RTX 3080 Ti", NULL, "RTX 3080 Ti", 80, 0.53, 34.1, 34.1, 0, 0, 34.1, 68.2, 0, 0, 273, 912,
	 GA102_PAPER},
	{"RTX 3080", NULL, "RTX 3080", 68, 0.47, 29.8, 29.8, 0, 0, 29.8, 59.5, 0, 0, 238, 760,
	 GA102_PAPER},
	{"RTX 3070", NULL, "RTX 3070", 46, 0.32, 20.3, 20.3, 0, 0, 20.3, 40.6, 0, 0, 162.6, 448,
	 GA102_PAPER},
	{"RTX 3060", NULL, "RTX 3060", 28, 0.2, 12.7, 12.7, 0, 0, 12.7, 25.5, 0, 0, 102, 360,
	 GA102_PAPER},

	{"L4", NULL, "L4", 58, 0.47, 30.3, 30.3, 0, 0, 60, 121, 242.5, 0, 242.5, 300,
	 "NVIDIA L4 data sheet"},
	{"L40S", NULL, "L40S", 142, 1.43, 91.6, 91.6, 0, 0, 183, 362, 733, 0, 733, 864,
	 "NVIDIA L40S data sheet"},
	{"L40", NULL, "L40", 142, 1.41, 90.5, 90.5, 0, 0, 90.5, 181, 362, 0, 362, 864,
	 "NVIDIA L40 data sheet"},
	{"RTX 6000 Ada", NULL, "RTX 6000 Ada", 142, 1.42, 91.1, 91.1, 0, 0, 182.1, 364.2, 728.5, 0,
	 728.5, 960, ADA_PAPER},
	{"RTX 4090", NULL, "RTX 4090", 128, 1.29, 82.6, 82.6, 0, 0, 82.6, 165.2, 330.3, 0, 660.6,
	 1008, ADA_PAPER},
	{"RTX 4080 SUPER", NULL, "RTX 4080 SUPER", 80, 0.82, 52.2, 52.2, 0, 0, 52.2, 104.4, 208.9,
	 0, 417.7, 736, ADA_PAPER},
	{"RTX 4080", NULL, "RTX 4080", 76, 0.76, 48.7, 48.7, 0, 0, 48.7, 97.5, 194.9, 0, 389.9, 717,
	 ADA_PAPER},
	{"RTX 4070 Ti SUPER", NULL, "RTX 4070 Ti SUPER", 66, 0.69, 44.1, 44.1, 0, 0, 44.1, 88.2,
	 176.4, 0, 352.8, 672, ADA_PAPER},
	{"RTX 4070 Ti", NULL, "RTX 4070 Ti", 60, 0.63, 40.1, 40.1, 0, 0, 40.1, 80.2, 160.4, 0,
	 320.7, 504, ADA_PAPER},
	{"RTX 4070 SUPER", NULL, "RTX 4070 SUPER", 56, 0.55, 35.5, 35.5, 0, 0, 35.5, 71, 142, 0,
	 284, 504, ADA_PAPER},
	{"RTX 4070", NULL, "RTX 4070", 46, 0.46, 29.1, 29.1, 0, 0, 29.1, 58.3, 116.6, 0, 233.2, 504,
	 ADA_PAPER},
	{"RTX 4060 Ti", NULL, "RTX 4060 Ti", 34, 0.34, 22.1, 22.1, 0, 0, 22.1, 44.1, 88.3, 0, 176.5,
	 288, ADA_PAPER},
	{"RTX 4060", NULL, "RTX 4060", 24, 0.24, 15.1, 15.1, 0, 0, 15.1, 30.2, 60.5, 0, 121, 272,
	 ADA_PAPER},

	{"GH200", "480GB", "GH200 96GB", 132, 33.5, 66.9, 133.8, 66.9, 0, 494.7, 989.4, 1978.9, 0,
	 1978.9, 4000, "NVIDIA GH200 data sheet"},
	{"GH200", NULL, "GH200 144GB", 132, 33.5, 66.9, 133.8, 66.9, 0, 494.7, 989.4, 1978.9, 0,
	 1978.9, 4900, "NVIDIA GH200 data sheet"},
	{"H200 NVL", NULL, "H200 NVL", 132, 30, 60, 120, 60, 0, 417.5, 835.5, 1670.5, 0, 1670.5,
	 4800, "NVIDIA H200 data sheet"},
	{"H200", NULL, "H200 SXM", 132, 33.5, 66.9, 133.8, 66.9, 0, 494.7, 989.4, 1978.9, 0, 1978.9,
	 4800, "NVIDIA H200 data sheet"},
	{"H100 PCIe", NULL, "H100 PCIe", 114, 25.6, 51.2, 102.4, 51.2, 0, 378, 756.5, 1513, 0, 1513,
	 2000, H100_PAPER},
	{"H100 NVL", NULL, "H100 NVL", 132, 30, 60, 120, 60, 0, 417.5, 835.5, 1670.5, 0, 1670.5,
	 3900, H100_PAPER},
	{"H100", NULL, "H100 SXM", 132, 33.5, 66.9, 133.8, 66.9, 0, 494.7, 989.4, 1978.9, 0, 1978.9,
	 3350, H100_PAPER},
	{"H800", NULL, "H800 SXM", 132, 1, 66.9, 133.8, 1, 0, 494.7, 989.4, 1978.9, 0, 1978.9, 3350,
	 H100_PAPER},
	{"H20", NULL, "H20", 78, 1, 44, 88, 1, 0, 74, 148, 296, 0, 296, 4000,
	 "NVIDIA H20 data sheet"},

	{"GB300", NULL, "GB300", 0, 1.3, 80, 160, 0, 0, 1250, 2500, 5000, 15000, 165, 8000,
	 "NVIDIA GB300 data sheet"},
	{"B300", NULL, "B300", 0, 1.25, 75, 150, 0, 0, 1125, 2250, 4500, 13500, 150, 8000,
	 "NVIDIA HGX B300 data sheet"},
	{"GB200", NULL, "GB200", 0, 40, 80, 160, 40, 0, 1250, 2500, 5000, 10000, 5000, 8000,
	 BLACKWELL_PAPER},
	{"B200", NULL, "B200", 148, 37, 75, 150, 37, 0, 1125, 2250, 4500, 9000, 4500, 8000,
	 BLACKWELL_PAPER},
	{"B100", NULL, "B100", 0, 30, 60, 120, 30, 0, 900, 1750, 3500, 7000, 3500, 8000,
	 BLACKWELL_PAPER},
	{"RTX PRO 6000", NULL, "RTX PRO 6000 Blackwell", 188, 1.97, 126, 126, 0, 0, 251.9, 503.8,
	 1007.6, 2015.2, 1007.6, 1792, RTX50_PAPER},
	{"RTX 5090", NULL, "RTX 5090", 170, 1.64, 104.8, 104.8, 0, 0, 104.8, 209.5, 419, 1676, 838,
	 1792, RTX50_PAPER},
	{"RTX 5080", NULL, "RTX 5080", 84, 0.88, 56.3, 56.3, 0, 0, 56.3, 112.6, 225.1, 900.4, 450.2,
	 960, RTX50_PAPER},
	{"RTX 5070 Ti", NULL, "RTX 5070 Ti", 70, 0.69, 43.9, 43.9, 0, 0, 43.9, 87.9, 175.8, 703,
	 351.5, 896, RTX50_PAPER},
	{"RTX 5070", NULL, "RTX 5070", 48, 0.48, 30.9, 30.9, 0, 0, 30.9, 61.7, 123.5, 493.9, 246.9,
	 672, RTX50_PAPER},

	{"MI250X", NULL, "MI250X (one die)", 110, 23.95, 23.95, 23.95, 47.85, 47.85, 0, 191.5, 0, 0,
	 191.5, 1638.4, CDNA_PAPER},
	{"MI250", NULL, "MI250 (one die)", 104, 22.65, 22.65, 22.65, 45.25, 45.25, 0, 181.05, 0, 0,
	 181.05, 1638.4, CDNA_PAPER},
	{"MI300X", NULL, "MI300X", 304, 81.7, 163.4, 163.4, 163.4, 163.4, 653.7, 1307.4, 2614.9, 0,
	 2614.9, 5300, CDNA_PAPER},
	{"MI300A", NULL, "MI300A", 228, 61.3, 122.6, 122.6, 122.6, 122.6, 490.3, 980.6, 1961.2, 0,
	 1961.2, 5300, CDNA_PAPER},
	{"MI325X", NULL, "MI325X", 304, 81.7, 163.4, 163.4, 163.4, 163.4, 653.7, 1307.4, 2614.9, 0,
	 2614.9, 6000, CDNA_PAPER},
	{"MI350X", NULL, "MI350X", 256, 72.1, 144.2, 144.2, 72.1, 144.2, 0, 2306.9, 4613.7, 9227.5,
	 4613.7, 8000, CDNA_PAPER},
	{"MI355X", NULL, "MI355X", 256, 78.6, 157.3, 157.3, 78.6, 157.3, 0, 2516.6, 5033.2, 10066.3,
	 5033.2, 8000, CDNA_PAPER},
};
/* clang-format on */

const size_t peaks_n_rows = sizeof peaks_rows / sizeof *peaks_rows;
