/* SPDX-License-Identifier: Apache-2.0 */
/* nvperf.c - an empty libnvperf_host.so, which every libcupti with the host API has beside it. */
__attribute__((visibility("default"))) const int mock_nvperf_host = 1;
