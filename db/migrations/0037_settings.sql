-- Open cases are judged anew for the version of the settings that it is done for; the function takes one argument more.
drop function if exists rejudge_cases(text, jsonb);
