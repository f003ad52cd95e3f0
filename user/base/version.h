/* SPDX-License-Identifier: Apache-2.0 OR MIT */
#ifndef QPROF_BASE_VERSION_H
#define QPROF_BASE_VERSION_H

#define QPROF_VERSION "0.1.0"

#endif /* QPROF_BASE_VERSION_H */
