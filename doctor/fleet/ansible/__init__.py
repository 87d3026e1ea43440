"""What Ansible reads and loads: the playbook and the callback. Nothing of doctor imports this folder's modules."""
