alter table api_key
  drop constraint api_key_role_check,
  add constraint api_key_role_check
    check (role in ('producer', 'reviewer', 'agent', 'consumer', 'supervisor', 'admin'));
