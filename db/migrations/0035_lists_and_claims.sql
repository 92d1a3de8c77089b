-- A claim says which cases it changed on its way; the type of its rows is another one.
drop function if exists claim_case(text, text, text);
