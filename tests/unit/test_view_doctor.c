// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "test.h"
#include "../fixtures/output.h"
#include "../fixtures/sample_doctor.h"
#include "view/doctor_view.h"

TEST_CASE(a_sample_is_as_agreed)
{
	_toolchains_ struct toolchains list = {0};
	_findings_ struct findings f = {0};

	sample_findings(&f, &list);
	assert_shows(printed_findings(doctor_json, &f, &list, 0), "@view/doctor.json");
}

TEST_CASE(without_a_problem_it_works)
{
	_toolchains_ struct toolchains list = {0};
	_findings_ struct findings f = {0};

	findings__add(&f, FINDING_KERNEL, FINDING_NOTE, "x", "do y", "z");
	assert_shows(printed_findings(doctor_json, &f, &list, 0), "\"works\":true");
}

TEST_CASE(an_incomplete_list_of_findings_is_an_error)
{
	struct findings f = {.err = -12};
	struct toolchains list = {0};

	free(printed_findings(doctor_json, &f, &list, -12));
}

/* ---- Doctor text ----------------------------------------------------------------------------- */

TEST_CASE(doctor_text_a_sample_is_as_agreed)
{
	_toolchains_ struct toolchains list = {0};
	_findings_ struct findings f = {0};

	sample_findings(&f, &list);
	assert_shows(printed_findings(doctor_text, &f, &list, 0), "@view/doctor.txt");
}

TEST_CASE(doctor_text_without_a_problem_it_works)
{
	_toolchains_ struct toolchains list = {0};
	_findings_ struct findings f = {0};

	findings__add(&f, FINDING_KERNEL, FINDING_NOTE, "x", "do y", "z");
	assert_shows(printed_findings(doctor_text, &f, &list, 0), "Recording works here.\n");
}

TEST_CASE(doctor_text_an_incomplete_list_of_findings_is_an_error)
{
	struct findings f = {.err = -12};
	struct toolchains list = {0};

	free(printed_findings(doctor_text, &f, &list, -12));
}

TEST_MAIN(NULL, NULL)
